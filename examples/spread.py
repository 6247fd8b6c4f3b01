#!/usr/bin/env python3
"""How good is a random configuration of an experiment, and how long does a trial take?

Draws configurations from the search space of an experiment file, runs its trial command on each
as a manager would (the file protocol, nothing else), and prints percentiles. No tuner takes part:
this is what a search space is judged by before one does. Python's standard library only.

    examples/spread.py examples/digits/experiment.yaml --trials 300 --jobs 2
"""

import argparse
import concurrent.futures
import json
import math
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile


def read_experiment(path):
    """The three entries that are needed here. The search space must be written as JSON."""
    text = path.read_text(encoding="utf-8")
    entry = dict(re.findall(r"^(trialCommand|trialCodeDirectory): *(.+?) *$", text, re.MULTILINE))
    start = text.index("{", text.index("\nsearchSpace:"))
    space, _ = json.JSONDecoder().raw_decode(text, start)
    return entry["trialCommand"], path.parent / entry.get("trialCodeDirectory", "."), space


def draw(space, rng):
    return {name: draw_value(domain["_type"], domain["_value"], rng)
            for name, domain in space.items()}


def draw_value(kind, value, rng):
    if kind == "choice":
        chosen = rng.choice(value)
        if not isinstance(chosen, dict):
            return chosen
        inner = {key: sub for key, sub in chosen.items() if key != "_name"}
        return {"_name": chosen["_name"], **draw(inner, rng)}
    if kind == "randint":
        return rng.randrange(value[0], value[1])
    low, high = value[:2]
    if kind in ("uniform", "quniform"):
        number = rng.uniform(low, high)
    elif kind in ("loguniform", "qloguniform"):
        number = math.exp(rng.uniform(math.log(low), math.log(high)))
    else:
        sys.exit(f"spread.py: search space type {kind} is not supported")
    if kind.startswith("q"):
        number = min(max(round(number / value[2]) * value[2], low), high)
    return number


def read_records(data):
    """The records of a metrics file: ME, six digits of length, JSON with a newline at its end."""
    while data:
        length = int(data[2:8])
        yield json.loads(data[8:8 + length])
        data = data[8 + length:]


def run_trial(command, directory, parameters):
    with tempfile.TemporaryDirectory() as sys_dir:
        proposal = {"parameter_id": 0, "parameter_source": "algorithm", "parameters": parameters}
        (pathlib.Path(sys_dir) / "parameter.cfg").write_text(json.dumps(proposal))
        environment = {**os.environ, "NNI_PLATFORM": "local", "NNI_SYS_DIR": sys_dir,
                       "NNI_OUTPUT_DIR": sys_dir, "NNI_TRIAL_JOB_ID": "spread"}
        trial = subprocess.Popen(["/bin/sh", "-c", command], cwd=directory, env=environment,
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        # Processor time, shell and all: other work on the machine does not make a trial dearer.
        _, status, usage = os.wait4(trial.pid, 0)
        trial.returncode = os.waitstatus_to_exitcode(status)
        if trial.returncode != 0:
            raise RuntimeError(f"the trial failed: {json.dumps(parameters)}")
        records = list(read_records((pathlib.Path(sys_dir) / ".nni" / "metrics").read_bytes()))
    curve = [json.loads(r["value"]) for r in records if r["type"] == "PERIODICAL"]
    final = [json.loads(r["value"]) for r in records if r["type"] == "FINAL"][-1]
    seconds = usage.ru_utime + usage.ru_stime
    return {"parameters": parameters, "curve": curve, "final": final, "seconds": seconds}


def percentile(values, fraction):
    """Linear between the two nearest ranks."""
    ordered = sorted(values)
    place = fraction * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def print_row(name, values, digits):
    cells = " | ".join(f"{percentile(values, f):.{digits}f}" for f in (0, 0.1, 0.5, 0.9, 1))
    print(f"| {name} | {cells} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("experiment", type=pathlib.Path)
    parser.add_argument("--trials", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=1, help="trials at a time")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--output", type=pathlib.Path, help="every trial, as JSON Lines")
    options = parser.parse_args()

    command, directory, space = read_experiment(options.experiment)
    rng = random.Random(options.seed)
    drawn = [draw(space, rng) for _ in range(options.trials)]
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        results = list(pool.map(lambda p: run_trial(command, directory, p), drawn))
    if options.output:
        options.output.write_text("".join(json.dumps(result) + "\n" for result in results))

    print("| | min | 10 % | 50 % | 90 % | max |\n|---|---|---|---|---|---|")
    print_row("validation accuracy", [r["final"]["default"] for r in results], 4)
    print_row("test accuracy", [r["final"]["test"] for r in results], 4)
    print_row("processor seconds", [r["seconds"] for r in results], 2)


if __name__ == "__main__":
    main()

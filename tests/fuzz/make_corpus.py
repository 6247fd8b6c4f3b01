#!/usr/bin/env python3
"""Seeds for the fuzz targets, most from the recordings of NNI: tests/fuzz/make_corpus.py

Writes into tests/data/fuzz/<target>; what is there stays, and what it writes is the same each time.
A seed is kept only if it has a word that no earlier one has, so that the corpora stay small.
"""

import base64
import hashlib
import json
import pathlib
import random
import re

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
RECORDINGS = ROOT / "tests" / "data" / "transcripts"
CORPORA = ROOT / "tests" / "data" / "fuzz"
MOST_BYTES = 4096  # as scripts/fuzz.sh: of longer ones only the beginning would be tried


def text_of(data) -> str:
    """A payload as it was on the wire: recordings hold JSON decoded, other texts as they are."""
    return data if isinstance(data, str) else json.dumps(data)


def frames(recording: pathlib.Path, direction: str):
    for line in recording.read_text().splitlines():
        record = json.loads(line) if line else {}
        if record.get("dir") == direction and "code" in record:
            yield record["code"], text_of(record.get("data", ""))


def exp_params(recording: pathlib.Path):
    first = json.loads(recording.read_text().splitlines()[0])
    return first.get("exp_params")


class Corpus:
    def __init__(self, target: str):
        self.folder = CORPORA / target
        self.folder.mkdir(parents=True, exist_ok=True)
        self.words = set()
        self.count = 0

    def write(self, seed: bytes, source: str) -> None:
        name = source + "-" + hashlib.sha256(seed).hexdigest()[:12]
        (self.folder / name).write_bytes(seed)
        self.count += 1

    def add(self, seed: bytes) -> None:
        words = set(re.findall(rb"[A-Za-z_]{2,}", seed))
        if words <= self.words or len(seed) > MOST_BYTES:
            return
        self.words |= words
        self.write(seed, "recorded")


def framed(code: str, payload: str) -> bytes:
    data = payload.encode()
    return f"{code}{len(data):014d}".encode() + data


# ---- seeds that no recording has

METRIC = (
    b'{"parameter_id": 0, "trial_job_id": "t0", "type": "PERIODICAL", "sequence": %d, "value": "%s"}'
)
PRINTED = [
    b"epoch 3 loss=0.25",
    b"loss: nan",
    b"3 of 10, acc 91.5%",
    b"1,2.5,-inf",
    b"+5,.5,1.0D-3",
    b'[tune-metric]: {"epoch": 3, "loss": 0.5}',
    b"[tune-metric]: {} }",
]


def metric_record(sequence: int, value: bytes) -> bytes:
    body = METRIC % (sequence, value) + b"\n"
    return b"ME%06d" % len(body) + body


def spool_record(kind: bytes, body: bytes, time: float = 1700000000.25) -> bytes:
    return b"%s %.6f %d\n%s\n" % (kind, time, len(body), body)


def metric_seeds():
    records = [metric_record(i, value) for i, value in enumerate([b"0.5", b"NaN", b"{\\\"a\\\": 1}"])]
    yield b"\x00" + b"".join(records)
    yield b"\x0a" + records[0] + b"garbage ME0000 " + records[1][:-1] + records[2][:40]
    yield b"\x05" + b"\n".join(PRINTED)
    yield b"\xff" + b"ME999999{}\nME000003{}\nME000000\n"


def spool_seeds():
    begin = spool_record(b"shim", b"pid=12 start=34 boot=56 gpus=0,1") + spool_record(
        b"start", b"pid=13 start=35"
    )
    end = spool_record(b"exit", b"code=0 signal=0 oom=0 cpu=1.5 rss=1000")
    first, second = metric_record(0, b"0.5"), metric_record(1, b"0.25")
    yield b"\x00" + begin + spool_record(b"metric", first + second[:20]) + spool_record(
        b"metric", second[20:]
    ) + end
    yield b"\x01" + begin + spool_record(b"report", b'{"default": 0.5}') + spool_record(
        b"report", b'{"default": NaN, "epoch": 3}'
    ) + spool_record(b"problem", b"a text") + spool_record(b"stop", b"pause") + end
    yield b"\x10" + begin + spool_record(b"restore", b"no such folder") + b"exit 1.0 99\ncode"


def json_frame(text: bytes) -> bytes:
    return len(text).to_bytes(4, "big") + text


def json_frames_seeds():
    words = [b'{"type": "ping"}', b'{"type": "hello", "version": 1, "role": "worker"}']
    yield b"\x00" + b"".join(map(json_frame, words))
    yield b"\xff" + json_frame(words[0]) + json_frame(words[1])[:20]
    yield b"\x03" + json_frame(b'{"loss": NaN, "text": "\\u00e4\xc3\xa4"}') + json_frame(b"[1]")
    yield b"\x05" + json_frame(b'{"a": ' + b"[" * 20 + b"]" * 20 + b"}")
    yield b"\x01" + json_frame(b'{"a": "\xff"}')
    yield b"\x01" + json_frame(b"") + json_frame(b"{}")
    yield b"\x10GET / HTTP/1.1\r\n"


# Three bytes a command, as in manager_fuzz.cpp, and one for what the daemons do of it at once.
def manager_seeds():
    tuners, assessors, batch, halving = 7, 3, 3, 0  # numbers of the target's
    for index in range(2 * tuners * assessors):
        tuner, judge = index % tuners, index % assessors
        space = {batch: 6, halving: 0}.get(tuner, index % 6)
        head = bytes([tuner, judge, index * 7 % 32, space])
        talk = random.Random(index)
        body = b"\x00\x00\x04\x00"  # four trials
        for _ in range(90):
            what = talk.choice([0, 2, 2, 2, 3, 4, 6, 7, 8, 8, 9, talk.randrange(20)])
            body += bytes([what, talk.randrange(6), talk.randrange(40), talk.randrange(8)])
        yield head + body


# Of each tuner some spaces, with and without several objectives: tuner_fuzz.cpp. Odd ones only
# complete trials, so that models are fitted; the others do everything.
def tuner_seeds():
    tuners = 24  # at least as many as there are
    for index in range(4 * tuners):
        talk = random.Random(index)
        events = [11, 11, 7, 7, 0] if index // tuners % 2 else range(256)
        yield bytes([index % tuners, 0, 0, index, index // tuners]) + bytes(
            talk.choice(events) for _ in range(60)
        )


def main() -> None:
    names = ["command", "frame", "space", "dispatcher", "exp_params"]
    corpora = {name: Corpus(name) for name in names}
    for recording in sorted(RECORDINGS.rglob("*.jsonl")):
        sent = list(frames(recording, "out"))
        for code, payload in sent + list(frames(recording, "in")):
            corpora["command"].add((code + payload).encode())
            if code in ("IN", "SS"):
                corpora["space"].add(payload.encode())
        # The first byte chooses the framing: an even one has 14 digits.
        corpora["frame"].add(b"\x1e" + b"".join(framed(*frame) for frame in sent[:8]))
        lines = [code + payload.replace("\n", " ") for code, payload in sent]
        corpora["dispatcher"].add("\n".join(lines[:40]).encode())
        params = exp_params(recording)
        if isinstance(params, dict):
            text = json.dumps(params).encode()
            if not corpora["exp_params"].count:
                corpora["exp_params"].add(b"!" + base64.b64encode(text))
            corpora["exp_params"].add(text)
        elif params:
            corpora["exp_params"].add(b"!" + str(params).encode())
    made = {"metric": metric_seeds(), "spool": spool_seeds(), "manager": manager_seeds(),
            "tuner": tuner_seeds(), "json_frames": json_frames_seeds()}
    for name, seeds in made.items():
        corpora[name] = Corpus(name)
        for seed in seeds:
            corpora[name].write(seed, "made")
    corpora["experiment_file"] = Corpus("experiment_file")
    for file in sorted((ROOT / "examples").rglob("*.yaml")):
        corpora["experiment_file"].write(file.read_bytes(), file.parent.name)
    for name, corpus in corpora.items():
        print(f"{name}: {corpus.count} seeds")


if __name__ == "__main__":
    main()

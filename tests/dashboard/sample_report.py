"""A report as one document: the page with its scripts inside, and the answers of a small made-up experiment."""

import array
import base64
import json
import math
import pathlib
import re
import struct

PAGE = pathlib.Path(__file__).parents[2] / "dashboard" / "page"
NAME = "<img src=x onerror=alert(1)> & 'quotes'"
SPACE = [
    {"name": "lr", "kind": "real", "low": 1e-4, "high": 1.0, "log": True, "step": None, "condition": None},
    {"name": "net", "kind": "choice", "log": False, "choices": ["conv", "<b>mlp</b>"], "condition": None},
    {"name": "net[0].kernel", "kind": "integer", "low": 1, "high": 7, "log": False,
     "condition": {"parent": 1, "branch": 0}},
]
FILE = {"searchSpace": {
    "lr": {"_type": "loguniform", "_value": [1e-4, 1.0]},
    "net": {"_type": "choice", "_value": [{"_name": "conv", "kernel": {"_type": "randint", "_value": [1, 8]}},
                                          {"_name": "<b>mlp</b>"}]},
}}
SUCCEEDED, FAILED = 3, 4


def trials(count):
    """Rows of the columns: every seventh trial fails and has no loss."""
    rows = []
    for i in range(count):
        net = i % 2
        failed = i % 7 == 3
        rows.append({"trial": i, "status": FAILED if failed else SUCCEEDED, "source": 0, "reports": i % 5,
                     "started": 2.0 * i, "ended": 2.0 * i + 1, "worker": 0xFFFF, "last": float(i),
                     "violation": math.nan if failed else 0.0,
                     "m:loss": math.nan if failed else ((i * 37) % count) / count,
                     "p:lr": 10.0 ** (-4 + 4 * i / count), "p:net": float(net),
                     "p:net[0].kernel": float(1 + i % 7) if net == 0 else math.nan})
    return rows


TYPES = {"trial": "u32", "status": "u8", "source": "u8", "reports": "u32", "worker": "u16", "last": "f64", "m:loss": "f64"}
CODES = {"u8": "B", "u16": "H", "u32": "I", "f32": "f", "f64": "d"}


RUN = ("trial", "started", "ended", "worker", "status")


def columns(rows, runs=(), **header):
    """The bytes of an answer of GET …/columns. runs: of trials that were paused, with the keys of RUN."""
    body = b""

    def packed(names, rows):
        nonlocal body
        described = []
        for name in names:
            kind = TYPES.get(name, "f32")
            described.append({"name": name, "type": kind, "offset": len(body)})
            body += array.array(CODES[kind], [row[name] for row in rows]).tobytes()
            body += b"\0" * (-len(body) % 8)
        return described

    described = packed(rows[0] if rows else [], rows)
    ran = {"rows": len(runs), "columns": packed(RUN, runs)}
    text = json.dumps({"format": 1, "rows": len(rows), "next": "1", "more": False, "reset": False, "total": len(rows),
                       "started": 1.7e9, "workers": [], "columns": described, "runs": ran, **header}).encode()
    text += b" " * (-(4 + len(text)) % 8)
    return struct.pack("<I", len(text)) + text + body


def experiment(rows):
    best = min((row for row in rows if not math.isnan(row["m:loss"])), key=lambda row: row["m:loss"])
    failed = sum(row["status"] == FAILED for row in rows)
    tally = dict.fromkeys(("pending", "running", "waiting", "paused", "early_stopped", "user_canceled"), 0)
    return {"format": 1, "experiment_id": "abc", "name": NAME, "directory": "/x", "status": "completed", "reason": "",
            "objective": "loss", "optimize_mode": "minimize", "seed": 1, "runs": 1, "manager_pid": 0, "started": 1.7e9,
            "ended": 1.7e9 + 2 * len(rows), "trials": {**tally, "succeeded": len(rows) - failed, "failed": failed},
            "best": {"trial_job_id": "t%04d" % best["trial"], "score": best["m:loss"], "final": best["m:loss"],
                     "parameters": {"lr": best["p:lr"], "net": {"_name": SPACE[1]["choices"][int(best["p:net"])]}}},
            "unfinished": [], "unfinished_count": 0, "last_failures": [], "failure_causes": [],
            "seconds": 2 * len(rows), "concurrency": 2, "max_trials": None, "max_seconds": None, "tuner": "TPE",
            "metrics": [{"metric": "loss", "optimize_mode": "minimize", "limit": None}], "space": SPACE, "file": FILE}


def write(path, count=200):
    """Writes the document; returns its rows."""
    rows = trials(count)
    paths = {"/experiments/abc": experiment(rows),
             "/experiments/abc/columns": {"base64": base64.b64encode(columns(rows)).decode()}}
    scripts = []

    def take(found):
        scripts.append("<script>" + (PAGE / found[1]).read_text().replace("</script", "<\\/script") + "</script>")
        return ""

    text = (PAGE / "index.html").read_text()
    text = re.sub(r'<link rel="stylesheet" href="([^"]+)">',
                  lambda found: "<style>" + (PAGE / found[1]).read_text() + "</style>", text)
    text = re.sub(r'<script defer src="([^"]+)"></script>\n', take, text)
    data = json.dumps({"paths": paths}).replace("<", "\\u003c")
    held = '<script type="application/json" id="attune-report">' + data + "</script>"
    path.write_text(text.replace("</body>", held + "".join(scripts) + "</body>"))
    return rows

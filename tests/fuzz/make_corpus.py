#!/usr/bin/env python3
"""Seeds for the fuzz targets, most from the recordings of NNI: tests/fuzz/make_corpus.py

Writes into tests/data/fuzz/<target>; what is there stays, and what it writes is the same each time.
A seed is kept only if it has a word that no earlier one has, so that the corpora stay small.
"""

import base64
import hashlib
import hmac
import json
import math
import pathlib
import random
import re
import struct

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

EARLIER = ('IN{"search_space": {"x": {"_type": "uniform", "_value": [0, 1]}}, "earlier": [{"name": "a", "trials": '
           '[{"parameters": {"x": 0.5}, "loss": 1}, {"parameters": {"y": 2}, "loss": -1e300}]}]}')
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


def said(*words):
    return b"".join(json_frame(json.dumps(word).encode()) for word in words)


# The first byte: to a listener or a dialer, from who has proven itself; the same from strangers.
def wire_seeds():
    hello = {"type": "hello", "worker": "w", "pid": 7}
    yield b"\x00" + said(hello, {"type": "ping"}, {"type": "pong"}, {"type": "started", "lease": 1})
    yield b"\x00" + said({"type": "error", "message": "so", "final": True, "code": "fenced"})
    yield b"\x00" + said(hello)[:-2]
    welcome = {"type": "welcome", "epoch": 1, "ping": 2.0, "silence": 10.5}
    error = {"type": "error", "message": "so", "final": True, "code": "fenced"}
    yield b"\x01" + said(welcome, {"type": "ping"}, {"type": "lease", "task": "x"})[:-3]
    yield b"\x01" + said(error)
    yield b"\x01" + said({"type": "ping"}, welcome | {"ping": "2"})
    # As it was said before version 2.
    old = {"type": "hello", "version": 1, "token": "secret", "role": "worker", "pid": 7}
    yield b"\x02" + said(old, {"type": "started", "lease": 1})
    yield b"\x02" + said({"type": "hello", "version": 2, "role": "worker", "name": "w",
                          "nonce": "00" * 32}, {"type": "proof", "proof": "00" * 32})
    yield b"\x02\x16\x03\x01\x00\x05hello"
    yield b"\x03" + said(welcome, {"type": "lease", "task": "x"})
    yield b"\x03" + said(error | {"message": "version 1 is spoken here, not 2"})
    yield b"\x03" + said({"type": "challenge", "version": 2, "nonce": "00" * 32, "proof": "00" * 32})


# Secrets and nonces of handshake_fuzz.cpp. The first byte: the server, the client, and either side
# of the encryption.
def handshake_seeds():
    def number(first):
        return bytes([first]) + bytes(31)

    def joined(*texts):
        return b"".join(len(text).to_bytes(4, "big") + text for text in texts)

    def proof(secret, purpose, name, client=number(3), server=number(4)):
        about = joined(b"2", b"worker" if secret == 1 else b"client", name, client, server)
        return hmac.new(number(secret), joined(purpose, about), hashlib.sha256).hexdigest()

    nonce, other = number(3).hex(), number(4).hex()
    hello = {"type": "hello", "version": 2, "role": "worker", "name": "w", "nonce": nonce}
    good = {"type": "proof", "proof": proof(1, b"attune client proof", b"w")}
    challenge = {"type": "challenge", "version": 2, "nonce": other,
                 "proof": proof(1, b"attune server proof", b"w")}
    client_hello = b"\x16\x03\x01\x00\x2d\x01\x00\x00\x29\x03\x03" + bytes(32) + (
        b"\x00\x00\x02\x13\x01\x01\x00\x00\x00"
    )
    yield b"\x00" + said(hello, good)
    yield b"\x00" + said(hello, good) + client_hello
    yield b"\x00" + said(hello, {"type": "proof", "proof": challenge["proof"]})
    yield b"\x00" + said(hello | {"role": "client"}, {
        "type": "proof", "proof": proof(2, b"attune client proof", b"w")})
    yield b"\x00" + said(hello | {"role": "king"})
    yield b"\x00" + said({"type": "hello", "version": 1, "token": "secret", "role": "worker"})
    yield b"\x01" + said(challenge)
    yield b"\x01" + said(challenge) + client_hello
    yield b"\x01" + said(challenge | {"nonce": nonce})
    yield b"\x01" + said(challenge | {"version": 3})
    yield b"\x01" + said({"type": "error", "message": "version 1 is spoken here, not 2",
                          "final": True})
    yield b"\x02" + client_hello
    yield b"\x03" + client_hello
    yield b"\x03\x15\x03\x03\x00\x02\x02\x28"


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


def lines(*words) -> bytes:
    """One a line: what it says, behind the letter for who says it, if there is one."""
    texts = [word if isinstance(word, str) else word[0] + json.dumps(word[1]) for word in words]
    return "\n".join(texts).encode()


LEASE = 1 << 32  # the numbers of the first coordinator's leases follow
FIFO = json.dumps({"policy": "fifo", "capacity": 4, "batch": 2})
PRIORITISED = json.dumps({"policy": "prioritised", "capacity": 3, "batch": 2, "max_staleness": 2})


def task_spec(id, **more) -> dict:
    return {"id": id, "kind": "trial", "client": "c", "needs": {"cpu": 1}, "limits": {"attempts": 2},
            "program": '{"experiment": "e", "job": "t", "sequence": 0, "attempt": 0, "parameters": "{}"}'} | more


def coordinator_messages_seeds():
    def hello(name, **more):
        return "h", {"worker": name, "key": "1" * 64, "incarnation": "1", "host": "h", "pid": 1, "capacity": {"cpu": 2},
                     "labels": ["fast"], "kinds": [], "running": []} | more

    def submit(id, **more):
        return "c", {"type": "submit", "task": task_spec(id, **more)}

    def worker(who, type, task, number, **more):
        return who, {"type": type, "task": task, "lease": LEASE + number} | more

    def end(who, task, number, state="succeeded"):
        return worker(who, "finished", task, number, state=state, cause="", report="{}")

    metric = {"event": "report", "text": '{"parameter_id": 0, "trial_job_id": "t", "type": "FINAL", '
              '"sequence": 0, "value": "1"}', "time": 1.5, "position": 9, "late": False}
    yield lines(hello("a"), submit("x"), submit("y", labels=["fast"], priority=3), submit("z"),
                worker("a", "started", "x", 1),
                worker("a", "info", "x", 1, seq=1, event=metric), ("e", metric),
                ("c", {"type": "ack", "task": "x", "seq": 1, "position": 9}),
                ("c", {"type": "tell", "task": "x", "message": {"parameter": "1"}}),
                ("c", {"type": "cancel", "task": "z", "how": "stop", "cause": "so"}),
                end("a", "x", 1), end("a", "x", 1), end("a", "y", 9), ("c", {"type": "forget", "task": "x"}),
                ("c", {"type": "status"}), ("d", {"type": "forget", "task": "y"}), "j")
    yield lines(hello("a", kinds=["trial"]), submit("x", limits={"attempts": 3, "run": 20, "silent": 9}),
                worker("a", "started", "x", 1), "l", "t", hello("b"), "t", "t", "t",
                worker("b", "started", "x", 2), hello("a", running=[{"task": "x", "lease": LEASE + 1}]),
                end("a", "x", 1, "lost"), ("b", {"type": "drain"}),
                worker("b", "refused", "x", 2, message="no"), ("c", {"type": "shutdown"}), "m", "t")
    yield lines(hello("a"), submit("x", owns=[{"id": "b", "settings": FIFO}], uses=["b", "q"]),
                submit("y", owns=[{"id": "q", "settings": PRIORITISED}], worker="a", needs={"custom": {"k": 0}}),
                worker("a", "started", "x", 1),
                ("p", {"type": "sample", "buffer": "b", "seq": 1, "size": 2}),
                ("q", {"type": "push", "buffer": "b", "seq": 1, "items": [{"meta": str(i)} for i in range(7)]}),
                ("p", {"type": "push", "buffer": "q", "seq": 1,
                       "items": [{"meta": "m", "priority": 0.5, "collect_iter": 1}, {"meta": "n"}]}),
                ("p", {"type": "sample", "buffer": "b", "seq": 1, "size": 2, "from": 1}),
                ("q", {"type": "sample", "buffer": "q", "seq": 3, "size": 2}),
                ("q", {"type": "update", "buffer": "q", "ids": [1, 2], "priorities": [1e3, 0.0]}),
                ("q", {"type": "update", "buffer": "q", "ids": [-1, 1e300], "priorities": [1, 1]}),
                ("p", {"type": "advance", "buffer": "q", "iteration": 4}), "g", end("a", "x", 1))
    yield lines(("k", {"type": "lease", "task": "x", "lease": 7, "attempt": 0, "state": "leased",
                       "position": 0, "program": task_spec("x")["program"]}),
                ("k", {"type": "cancel", "task": "x", "lease": 7, "how": "kill"}),
                ("k", {"type": "info_ack", "task": "x", "lease": 7, "seq": 2}),
                ("k", {"type": "say_again", "task": "x", "lease": 7}),
                ("k", {"type": "tell", "task": "x", "lease": 7, "message": {"index": 0, "text": "1"}}),
                ("k", {"type": "finished_ack", "task": "x", "lease": 7}), ("k", {"type": "drain"}))


def journal_record(edge, task=None, at=1000.5, **more) -> dict:
    return {"edge": edge, "at": at} | ({"task": task} if task else {}) | more


def coordinator_journal_seeds():
    created = [journal_record("created", id, spec=task_spec(id, **more)) for id, more in (
        ("x", {"owns": [{"id": "b", "settings": FIFO}], "limits": {"attempts": 3, "silent": 5}}),
        ("y", {"uses": ["b"], "priority": -1, "limits": {"attempts": 1, "run": 10.5}}))]
    records = [journal_record("began", number=1), *created,
               journal_record("leased", "x", worker="w", number=LEASE + 1),
               journal_record("running", "x"),
               journal_record("leased", "y", worker="v", number=LEASE + 2),
               {"call": "push", "producer": "y/0", "first": 1, "items": [{"meta": "m"}, {"meta": "n"}],
                "buffer": "b"},
               {"call": "sample", "consumer": "x/0", "number": 1, "n": 2, "buffer": "b"},
               journal_record("closing", "x", text="stop", cause="so", again=True),
               journal_record("requeued", "x", attempt=1, cause="so"),
               journal_record("ended", "y", state="failed", cause="so", text="report"),
               journal_record("gone", "y"), journal_record("began", number=2), journal_record("latched")]
    texts = [json.dumps(record) for record in records]
    for cut in (5, 9, len(texts)):
        yield "\n".join(texts[:cut]).encode()
    key = "3" * 64
    bound = [journal_record("began", number=1, key=key), journal_record("named", client="c", key=key),
             *created, journal_record("leased", "x", worker="v", number=LEASE + 1, key=key),
             journal_record("began", number=2)]
    yield "\n".join(map(json.dumps, bound)).encode()
    tasks = [{"spec": task_spec(id), "state": state, "order": order, "attempt": 0, "lease": lease,
              "worker": "w" if lease else "", "since": 1000, "leased": 1000, "how": "", "cause": "",
              "again": False, "position": 0, "report": ""}
             for id, state, order, lease in (("x", "running", 1, LEASE + 1), ("y", "queued", 3, 0),
                                             ("z", "succeeded", 2, LEASE))]
    board = {"epoch": 1, "created": 3, "lease": LEASE + 1, "latched": False, "tasks": tasks}
    buffers = {"b": {"owner": "x", "settings": PRIORITISED, "state": buffer_state()}}
    snapshot = {"board": board, "buffers": buffers}
    yield lines(("s", snapshot), texts[-2], json.dumps(journal_record("ended", "y", state="cancelled")))
    # What a commander has made of its run, and told to its tasks.
    run = task_spec("run-learn-1", kind="learn", owns=[{"id": "run-learn-1", "settings": FIFO}],
                    program=json.dumps({"experiment": "e", "job": "run-learn-1", "parameters": json.dumps(
                        {"parameter_id": 0, "parameters": {"task": "run-learn-1"}})}))
    del run["client"]
    yield lines(json.dumps(records[0]), json.dumps(journal_record("created", "run-learn-1", spec=run)),
                json.dumps(journal_record("leased", "run-learn-1", worker="w", number=LEASE + 1)),
                json.dumps(journal_record("info", "run-learn-1", number=3, text='{"event": "problem"}')))


def doubles(*numbers) -> str:
    return base64.b64encode(struct.pack(f"<{len(numbers)}d", *numbers)).decode()


def buffer_state(ids=(2, 4), uses=(0, 1), weights=(0.5, 1.5)) -> dict:
    return {"rng": ["0123456789abcdef", "1", "2", "3"], "closed": False, "iteration": 3, "next_id": 5,
            "largest": doubles(2), "counts": doubles(4, 3, 2, 1, 1, 0, 0), "rate": doubles(4, 3),
            "producers": ["a", "b"], "taken": doubles(3, 1), "ids": doubles(*ids), "uses": doubles(*uses),
            "collect_iters": doubles(math.nan, 2), "weights": doubles(*weights), "metas": ["m", "n"],
            "given": [{"consumer": "c", "number": 2, "ids": doubles(3), "weights": doubles(0.5), "metas": ["l"]}]}


def buffer_state_seeds():
    push = {"call": "push", "producer": "a", "first": 4, "items": [{"meta": "k", "priority": 2.0}]}
    calls = [push, {"call": "advance", "iteration": 4}, {"call": "sample", "consumer": "c", "number": 3, "n": 1},
             {"call": "update", "ids": doubles(4), "priorities": doubles(3)}]
    for policy, state in ((json.loads(PRIORITISED), buffer_state()),
                          ({"policy": "uniform", "capacity": 4, "max_use": 3, "replace": True,
                            "rate_limit": {"min": 0.5, "max": 8, "window": 4096}, "batch": 2},
                           buffer_state(weights=(0, 0))),
                          (json.loads(FIFO), buffer_state(uses=(0, 0), weights=(0, 0)))):
        for count in (2, len(calls)):
            yield json.dumps({"policy": policy, "state": state, "calls": calls[:count]}).encode()


# The first byte: 1 allows changes, 2 says initialize first.
def mcp_seeds():
    session = (ROOT / "tests" / "data" / "mcp" / "session.jsonl").read_bytes()
    yield b"\x00" + session
    yield b"\x02" + b"\n".join(session.splitlines()[3:])

    def json_lines(*messages) -> bytes:
        return "\n".join(map(json.dumps, messages)).encode()

    def request(id, method, **params):
        return {"jsonrpc": "2.0", "id": id, "method": method, "params": params}

    def call(id, name, **arguments):
        return request(id, "tools/call", name=name, arguments=arguments)

    stop = call(1, "stop", experiment="abcd", kill=True)
    add = call("a", "add", experiment="abcd", trials=[{"x": 0.5, "o": {"_name": "b"}}])
    update = call(3, "update", experiment="abcd", concurrency=2, max_seconds=1.5, max_trials=9)
    kill = call(-4, "kill", experiment="abcd", trials=["t0001", "2"])
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    yield b"\x03" + json_lines(stop, add, update, kill)
    yield b"\x03" + json_lines(stop, cancel, {"jsonrpc": "2.0", "id": 2, "result": {}}, [add, 1, cancel])
    yield b"\x01" + json_lines(request(1, "tools/list", cursor="x"), request(2, "ping"), [], None)
    yield b"\x03" + json_lines(call(1, "logs", trial="1", stream="stderr", bytes=9))[:-20]


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
    corpora["command"].add(EARLIER.encode())
    corpora["dispatcher"].add(f"{EARLIER}\nGE3".encode())
    made = {"metric": metric_seeds(), "spool": spool_seeds(), "manager": manager_seeds(),
            "tuner": tuner_seeds(), "json_frames": json_frames_seeds(), "wire": wire_seeds(), "handshake": handshake_seeds(),
            "coordinator_messages": coordinator_messages_seeds(),
            "coordinator_journal": coordinator_journal_seeds(), "mcp": mcp_seeds(),
            "buffer_state": buffer_state_seeds()}
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

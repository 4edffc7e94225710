"""What the server tests share: a server on a free port, requests to it, the binary form, events."""
import http.client
import json
import os
import re
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
TACHO = os.environ.get("TACHO") or str(ROOT / "build/tacho")
SAMPLE = ROOT / "tests/data/sample.pt.trace.json.gz"
MINIMAL = ROOT / "tests/data/minimal.pt.trace.json"
PHASES = ROOT / "tests/data/phases.json"


class Answer:
    def __init__(self, response, body):
        self.status, self.body = response.status, body
        self.headers = {k.lower(): v for k, v in response.getheaders()}

    def json(self):
        return json.loads(self.body)


class Blocks:
    """The binary form of docs/SERVER.md."""

    def __init__(self, body):
        assert body[:8] == b"TACHOBLK", body[:16]
        version, length = struct.unpack("<II", body[8:16])
        assert version == 1 and length % 8 == 0
        self.head = json.loads(body[16:16 + length])
        self.data = body[16 + length:]

    def __getitem__(self, name):
        block = self.head["blocks"][name]
        code, size = {"u8": ("B", 1), "u16": ("H", 2), "u32": ("I", 4), "f32": ("f", 4),
                      "f64": ("d", 8)}[block["type"]]
        assert block["at"] % 8 == 0
        return struct.unpack(f"<{block['n']}{code}",
                             self.data[block["at"]:block["at"] + block["n"] * size])


class Server:
    """A running `tacho serve`; use with `with`."""

    def __init__(self, folder, *options, host="127.0.0.1", wrap=()):
        self.errors = tempfile.TemporaryFile("w+")
        argv = [*wrap, TACHO, "serve", str(folder), "--port", "0", *options]
        if host != "127.0.0.1":
            argv += ["--host", host]
        environment = {**os.environ, "LC_ALL": "C.UTF-8"}
        self.process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=self.errors,
                                        text=True, env=environment)
        line = self.process.stdout.readline()
        found = re.search(r"http://(\S+?):(\d+)/(\S*)", line)
        if not found:
            raise AssertionError(f"no address: {line!r} {self.stderr()}")
        self.url, self.port = found[0], int(found[2])
        token = re.search(r"token=(\w+)", found[3])
        self.token = token[1] if token else None

    def stderr(self):
        self.errors.seek(0)
        return self.errors.read()

    def stop(self, how=signal.SIGTERM, seconds=20):
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the server did not end within {seconds} s") from None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.stop()
        self.process.stdout.close()

    def connect(self, timeout=30):
        return http.client.HTTPConnection("127.0.0.1", self.port, timeout=timeout)

    def get(self, path, method="GET", connection=None, **headers):
        con = connection or self.connect()
        names = {k.replace("_", "-"): v for k, v in headers.items()}
        con.request(method, path, headers=names)
        response = con.getresponse()
        answer = Answer(response, response.read())
        if not connection:
            con.close()
        return answer

    def api(self, route, _status=200, _headers=None, **parameters):
        query = urllib.parse.urlencode({k.replace("_", "-"): v for k, v in parameters.items()})
        answer = self.get(f"/api/v1/{route}" + (f"?{query}" if query else ""), **(_headers or {}))
        assert answer.status == _status, f"{route}?{query}: {answer.status} {answer.body[:400]}"
        return answer

    def runs(self):
        return self.api("runs").json()

    def spans(self):
        return [s for r in self.runs()["runs"] for w in r["workers"] for s in w["spans"]]

    def wait_until(self, what, seconds=20):
        """Until what(runs) holds; the runs then."""
        end = time.monotonic() + seconds
        while True:
            runs = self.runs()
            if what(runs):
                return runs
            assert time.monotonic() < end, f"not within {seconds} s: {json.dumps(runs)[:600]}"
            time.sleep(0.05)

    def ready(self, seconds=20):
        """Until everything that is loaded without being asked is there, with its facts."""
        def all_there(runs):
            last = [w["spans"][-1] for r in runs["runs"] for w in r["workers"]]
            return last and all(s["state"] in ("ready", "failed", "resting") and
                                (s["state"] == "failed" or s["facts"]) for s in last)
        return self.wait_until(all_there, seconds)

    def memory(self):
        text = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", text)[1]) * 1024


class Events:
    """Listens to the events of a server on a separate thread."""

    def __init__(self, server, **headers):
        self.con = server.connect(timeout=60)
        self.con.request("GET", "/api/v1/events", headers=headers)
        self.sock = self.con.sock
        self.response = self.con.getresponse()
        assert self.response.status == 200
        assert self.response.getheader("Content-Type") == "text/event-stream"
        self.seen, self.told, self.ended = [], threading.Condition(), False
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        name = None
        try:
            for line in self.response:
                text = line.decode().rstrip("\n")
                if text.startswith("event: "):
                    name = text[7:]
                elif text.startswith("data: "):
                    with self.told:
                        self.seen.append((name, json.loads(text[6:])))
                        self.told.notify_all()
        except (OSError, http.client.HTTPException, ValueError, AttributeError):  # closed under it
            pass
        with self.told:
            self.ended = True
            self.told.notify_all()

    def wait(self, name, seconds=20, **members):
        """The first event of this name with these members."""
        def find():
            return next((d for n, d in self.seen if n == name and
                         all(d.get(k) == v for k, v in members.items())), None)
        with self.told:
            assert self.told.wait_for(lambda: find() is not None or self.ended, seconds), \
                f"no {name} {members} in {self.seen}"
            found = find()
        assert found is not None, f"no {name} {members} before the end: {self.seen}"
        return found

    def close(self):
        try:
            self.sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
        except OSError:
            pass
        self.con.close()


class Folder:
    """A log folder that is gone afterwards."""

    def __init__(self):
        self.path = Path(tempfile.mkdtemp(prefix="tacho-serve-"))
        self.log = self.path / "log"
        self.log.mkdir()

    def put(self, name, source=SAMPLE, old=True):
        """A trace under a name; `old`: as if written an hour ago, so that it is read at once."""
        target = self.log / name
        target.parent.mkdir(parents=True, exist_ok=True)
        part = target.with_name(target.name + ".tmp")
        if isinstance(source, bytes):
            part.write_bytes(source)
        else:
            shutil.copyfile(source, part)
        if old:
            os.utime(part, (time.time() - 3600, time.time() - 3600))
        part.rename(target)
        return target

    def __enter__(self):
        os.environ["XDG_CACHE_HOME"] = str(self.path / "cache")
        return self

    def __exit__(self, *_):
        shutil.rmtree(self.path, ignore_errors=True)


def made_trace(n, steps=3):
    """A small Kineto trace with n operators and kernels, as bytes."""
    events = [{"ph": "X", "cat": "user_annotation", "name": f"ProfilerStep#{s}", "pid": 1, "tid": 1,
               "ts": s * 1000.0, "dur": 999.0} for s in range(1, steps + 1)]
    for i in range(n):
        ts = 1000 + i * (steps * 1000 - 10) / n
        events.append({"ph": "X", "cat": "cpu_op", "name": f"aten::op{i % 7}", "pid": 1, "tid": 1,
                       "ts": round(ts, 3), "dur": 0.5, "args": {"External id": i}})
        events.append({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
                       "ts": round(ts + 0.1, 3), "dur": 0.1, "args": {"correlation": i, "External id": i}})
        events.append({"ph": "X", "cat": "kernel", "name": f"gemm_{i % 5}", "pid": 0, "tid": 7,
                       "ts": round(ts + 1, 3), "dur": 0.4,
                       "args": {"correlation": i, "External id": i, "device": 0, "stream": 7}})
    return json.dumps({"schemaVersion": 1, "traceEvents": events}).encode()

"""An S3 server from another project: `moto` from PyPI, as a separate process on this machine.

It is looked for in the Python that TACHO_S3_PYTHON names, in the one that runs the tests, and in
`~/.cache/tacho-tests/s3/bin/python3`; nothing is installed from here.
"""
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from pathlib import Path

PLACES = (os.environ.get("TACHO_S3_PYTHON"), sys.executable,
          str(Path.home() / ".cache/tacho-tests/s3/bin/python3"))


def find_python():
    """A Python with the server in it, or None."""
    for python in PLACES:
        if not python or not os.access(python, os.X_OK):
            continue
        found = subprocess.run([python, "-c", "import moto.server, flask"], capture_output=True, check=False)
        if found.returncode == 0:
            return python
    return None


class Moto:
    """`with Moto(python, {"bucket/key": bytes}) as s:` s.url is its endpoint."""

    def __init__(self, python, objects):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{port}"
        self.objects = objects
        self.process = subprocess.Popen([python, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)],
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def put(self, path, data=b""):
        # The server wants to know who it is, and looks no further.
        headers = {"Content-Type": "application/octet-stream",
                   "Authorization": "AWS4-HMAC-SHA256 Credential=k/20260101/us-east-1/s3/x"}
        request = urllib.request.Request(f"{self.url}/{path}", data=data, method="PUT", headers=headers)
        with urllib.request.urlopen(request, timeout=30) as answer:
            assert answer.status == 200, answer.status

    def __enter__(self):
        end = time.time() + 60
        while True:
            try:
                urllib.request.urlopen(f"{self.url}/moto-api/", timeout=5).close()
                break
            except (urllib.error.URLError, ConnectionError, TimeoutError):
                if time.time() > end or self.process.poll() is not None:
                    self.__exit__()
                    raise
                time.sleep(0.2)
        for bucket in sorted({key.split("/", 1)[0] for key in self.objects}):
            self.put(bucket)
        for key, data in self.objects.items():
            self.put(key, data)
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(20)

"""The page of a trace in the background: trace.serve()."""
import atexit
import re
import signal
import subprocess
import sys
import tempfile
import weakref
from html import escape
from typing import Any, List, Optional, Sequence

from . import _library, _program
from ._text import say

ADDRESS = re.compile(r"https?://\S+")
_running: "weakref.WeakSet[Server]" = weakref.WeakSet()


class Server:
    """A server that runs until stop(), the end of a `with` block or the end of the program."""

    def __init__(self, path: str, options: Sequence[str]) -> None:
        self.path = path
        line = [_library.program(), "serve", path, *options]
        self._errors: Any = tempfile.TemporaryFile()
        self._process: Optional["subprocess.Popen[bytes]"] = subprocess.Popen(
            line, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._errors,
            env=_program._environment(), start_new_session=True)  # so that Ctrl-C in a notebook does not end it
        _running.add(self)
        self.url = self._find_address()
        print(say("serving", path=path, url=self.url), file=sys.stderr)

    def _find_address(self) -> str:
        """Reads the address that the program prints when it is ready."""
        assert self._process is not None and self._process.stdout is not None
        for line in iter(self._process.stdout.readline, b""):
            found = ADDRESS.search(line.decode("utf-8", "replace"))
            if found:
                return found.group()
        process, self._process = self._process, None
        status = process.wait()
        self._errors.seek(0)
        _program._check(status or 2, self._errors.read())
        raise AssertionError("checked")

    def is_running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def wait(self) -> None:
        """Waits until the server ends; Ctrl-C ends it."""
        try:
            if self._process is not None:
                self._process.wait()
        except KeyboardInterrupt:
            self.stop()

    def stop(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        process.send_signal(signal.SIGINT)
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        if process.stdout is not None:
            process.stdout.close()
        self._errors.close()

    def __enter__(self) -> "Server":
        return self

    def __exit__(self, *_why: Any) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"<tacho.Server {self.url}>" if self.is_running() else "<tacho.Server: ended>"

    def _repr_html_(self) -> str:
        if not self.is_running():
            return f"<p>{escape(say('server_ended'))}</p>"
        return f'<p><a href="{escape(self.url)}" target="_blank" rel="noopener">{escape(self.url)}</a></p>'


def _stop_all() -> None:
    servers: List[Server] = list(_running)
    for server in servers:
        server.stop()


atexit.register(_stop_all)

# SPDX-License-Identifier: BSD-3-Clause
"""Answers the clients that sweetspot(1) starts for a callable, by way of the worker process."""

from __future__ import annotations

import json
import os
import select
import socket
import subprocess
import tempfile
from typing import Dict, List, Optional, Tuple

from ._checks import UNCHECKED
from ._worker import Job, Process


PATH_MAX = 100  # of a socket: 108 bytes with the name and a NUL (unix(7))


def _folder() -> "tempfile.TemporaryDirectory[str]":
    """In TMPDIR, or in /tmp where that is too long for a socket."""
    folder = tempfile.TemporaryDirectory(prefix="sweetspot-python-")
    if len(os.fsencode(folder.name)) <= PATH_MAX:
        return folder
    folder.cleanup()
    return tempfile.TemporaryDirectory(prefix="sweetspot-python-", dir="/tmp")


class Server:
    """Use it in a `with`; `path` is the socket for the clients."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.folder = _folder()
        self.path = os.path.join(self.folder.name, "s")
        self.worker: Optional[Process] = None
        self.restarts = 0
        self.checked: Dict[Tuple[str, ...], int] = {}  # the results that were compared, of each configuration
        self.unchecked = ""  # why results cannot be checked
        self.changed: List[str] = []  # inputs that were changed in place

    def __enter__(self) -> "Server":
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o600)
        self.listener.listen(16)
        return self

    def __exit__(self, *what: object) -> None:
        self._drop()
        self.listener.close()
        self.folder.cleanup()

    def _drop(self) -> None:
        if self.worker:
            self.worker.kill()
            self.worker = None

    def serve(self, process: subprocess.Popen) -> None:
        """Returns when the process has ended."""
        try:
            while process.poll() is None:
                ready, _, _ = select.select([self.listener], [], [], 0.05)
                if not self.worker:  # before a client is accepted: the fork would keep its connection open
                    self.worker = Process(self.job, self.listener)
                if ready:
                    client, _ = self.listener.accept()
                    with client:
                        self._one(client, process)
        except BaseException:
            self.listener.close()  # clients would wait for an answer, and the program for its clients
            raise

    def _one(self, client: socket.socket, process: subprocess.Popen) -> None:
        request = b""
        while not request.endswith(b"\n"):
            part = client.recv(65536)
            if not part:
                return
            request += part
        assert self.worker
        try:
            self.worker.channel.send(request[:-1])
            answer = self._wait(client, process)
        except OSError:
            answer = b""
        if answer is None or not answer:  # the client was killed at its time limit, or the worker crashed
            self._drop()
            self.restarts += 1
        if answer is not None:
            try:
                client.sendall(self._text(request, answer))
            except OSError:
                pass

    def _text(self, request: bytes, answer: bytes) -> bytes:
        """The answer for the client; what was checked is noted."""
        if not answer:
            return b""
        said = json.loads(answer)
        if "value" not in said:
            return ("failed\n" + said["why"]).encode()
        self.changed += [name for name in said["changed"] if name not in self.changed]
        key = tuple(request[:-1].decode().split("\0"))
        self.checked[key] = self.checked.get(key, 0) + said["checked"]
        self.unchecked = said["why"] if said["status"] == UNCHECKED else self.unchecked
        why = " ".join(said["why"].split())
        return ("%s\n%s%svalue %.9e" % (said["status"], why, "\n" if why else "", said["value"])).encode()

    def _wait(self, client: socket.socket, process: subprocess.Popen) -> Optional[bytes]:
        """The worker's answer; empty if it has crashed, None if nobody waits for it any more."""
        assert self.worker
        while True:
            ready, _, _ = select.select([self.worker.channel, client], [], [], 0.5)
            if self.worker.channel in ready:
                return self.worker.channel.recv(1 << 17)
            if client in ready or process.poll() is not None:
                return None

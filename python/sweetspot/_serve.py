# SPDX-License-Identifier: BSD-3-Clause
"""Answers the clients that sweetspot(1) starts for a callable, by way of the worker process."""

from __future__ import annotations

import json
import os
import select
import socket
import tempfile
from typing import Any, Dict, List, Optional, Tuple

from ._checks import UNCHECKED
from ._command import Running
from ._travel import pack
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
        self.packed = pack(job, job.function)
        self.folder = _folder()
        self.path = os.path.join(self.folder.name, "s")
        self.worker: Optional[Process] = None
        self.checked: Dict[Tuple[str, ...], int] = {}  # the results that were compared, of each configuration
        self.metrics: Dict[Tuple[str, ...], Dict[str, float]] = {}
        self.unchecked = ""  # why results cannot be checked
        self.changed: List[str] = []  # inputs that were changed in place
        self.traceback = ""  # of the last exception

    def __enter__(self) -> "Server":
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(self.path)
        os.chmod(self.path, 0o600)
        self.listener.listen(16)
        self.worker = Process(self.packed)
        return self

    def __exit__(self, *what: object) -> None:
        self._drop()
        self.listener.close()
        self.folder.cleanup()

    def _drop(self) -> None:
        if self.worker:
            self.worker.kill()
            self.worker = None

    def turn(self, running: Running) -> None:
        """Waits a moment for a client, and serves it."""
        ready, _, _ = select.select([self.listener], [], [], 0.05)
        if ready:
            client, _ = self.listener.accept()
            with client:
                self._one(client, running)

    def _one(self, client: socket.socket, running: Running) -> None:
        request = b""
        while not request.endswith(b"\n"):
            part = client.recv(65536)
            if not part:
                return
            request += part
        self.worker = self.worker or Process(self.packed)
        answer = self._ask(request[:-1], client, running)
        if answer == b"":  # it has crashed: the next one starts while nobody waits for it
            self._drop()
            self.worker = Process(self.packed)
            self._wait(self.worker, None, running)
        if answer is not None:
            try:
                client.sendall(self._text(request, answer))
            except OSError:
                pass

    def _ask(self, request: bytes, client: socket.socket, running: Running) -> Optional[bytes]:
        """The worker's answer; empty if it has crashed, None if nobody waits for it any more."""
        worker = self.worker
        assert worker
        if not worker.ready:
            started = self._wait(worker, client, running)
            if not started:
                return started  # a worker that still starts is kept for the next client
        try:
            worker.channel.send_bytes(request)
        except OSError:
            return b""
        answer = self._wait(worker, client, running)
        if answer is None:  # the client was killed at its time limit, and the call goes on
            self._drop()
        return answer

    @staticmethod
    def _wait(worker: Process, client: Optional[socket.socket], running: Running) -> Optional[bytes]:
        """The worker's next message; empty if it has crashed, None if nobody waits for it any more."""
        waited: List[Any] = [worker.channel, *([client] if client else [])]
        while True:
            ready, _, _ = select.select(waited, [], [], 0.2)
            if worker.channel in ready:
                try:
                    message = worker.channel.recv_bytes()
                except (EOFError, OSError):
                    return b""
                worker.ready = True
                return message
            if ready or not running.alive():
                return None

    def _text(self, request: bytes, answer: bytes) -> bytes:
        """The answer for the client; what was checked is noted."""
        if not answer:
            return b""
        said = json.loads(answer)
        if "value" not in said:
            self.traceback = said["traceback"]
            return b"failed\n" + str(said["why"]).encode()
        self.changed += [name for name in said["changed"] if name not in self.changed]
        key = tuple(request[:-1].decode().split("\0"))
        self.checked[key] = self.checked.get(key, 0) + said["checked"]
        self.metrics[key] = said["metrics"]
        self.unchecked = said["why"] if said["status"] == UNCHECKED else self.unchecked
        why = " ".join(said["why"].split())
        bound = ">" if said["pruned"] else ""
        return ("%s\n%s%sseconds %s%.9e" % (said["status"], why, "\n" if why else "", bound, said["value"])).encode()

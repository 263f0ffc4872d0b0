# SPDX-License-Identifier: BSD-3-Clause
"""The process in which a callable runs: one that lives as long as it works, so that compiled code and device contexts
stay. A crash or a hang costs one trial; the tuning process then forks another one."""

from __future__ import annotations

import ctypes
import os
import signal
import socket
import sys
import time
import traceback
from typing import Any, Callable, Dict, Optional

from ._compare import same
from ._params import Space

BATCH_S = 2e-3  # a sample lasts at least this long, so that the clock and the call itself do not matter


class Job:
    """What to run: the callable, and how to verify and time it."""

    def __init__(
        self,
        function: Callable[..., Any],
        space: Space,
        default: Dict[str, Any],
        verify: Any = "baseline",
        synchronize: Optional[Callable[[], Any]] = None,
        metric: Optional[str] = None,
        rtol: float = 1e-6,
    ) -> None:
        if metric not in (None, "returned"):
            raise ValueError("metric must be None (time) or 'returned', not %r" % (metric,))
        self.function, self.space, self.default = function, space, default
        self.verify = None if metric and verify == "baseline" else verify
        self.synchronize, self.metric, self.rtol = synchronize, metric, rtol


class Worker:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.batches: Dict[Any, int] = {}
        self.wrong: Dict[Any, str] = {}
        self.reference: Any = None
        self.has_reference = False

    def _call(self, config: Dict[str, Any]) -> Any:
        result = self.job.function(**config)
        if self.job.synchronize:
            self.job.synchronize()
        return result

    def _check(self, config: Dict[str, Any], result: Any) -> str:
        """Why the result is wrong; empty if it is right."""
        verify = self.job.verify
        if callable(verify):
            return "" if verify(result, config) else "verify(result, config) was not true"
        if verify != "baseline":
            return ""
        if not self.has_reference:
            self.reference = result if config == self.job.default else self._call(dict(self.job.default))
            self.has_reference = True
        return same(self.reference, result, self.job.rtol)

    def _time(self, config: Dict[str, Any], batch: int) -> float:
        begun = time.perf_counter()
        for _ in range(batch):
            self.job.function(**config)
        if self.job.synchronize:
            self.job.synchronize()
        return time.perf_counter() - begun

    def _first(self, key: Any, config: Dict[str, Any]) -> None:
        """The first call of a configuration: it may compile, it is verified, and it is not timed."""
        result = self._call(config)
        self.wrong[key] = self._check(config, result)
        batch = 1
        while not self.job.metric:
            took = self._time(config, batch)
            if took >= BATCH_S or batch >= 1 << 20:
                break
            batch = max(batch * 2, int(batch * BATCH_S / max(took, 1e-9)))
        self.batches[key] = batch

    def answer(self, words: Any) -> str:
        config = {name: self.job.space.value(name, word) for name, word in zip(self.job.space.words, words)}
        key = tuple(words)
        if key not in self.batches:
            self._first(key, config)
        if self.wrong[key]:
            return "wrong\n%s\nvalue 1" % self.wrong[key].replace("\n", " ")  # a metric must be there to be verified
        if self.job.metric:
            value = float(self._call(config))
        else:
            value = self._time(config, self.batches[key]) / self.batches[key]
        return "right\nvalue %.9e" % value


def _serve(job: Job, channel: socket.socket) -> None:
    worker = Worker(job)
    while True:
        request = channel.recv(1 << 16)
        if not request:
            return
        try:
            text = worker.answer(request.decode().split("\0"))
        except KeyboardInterrupt:
            return
        except BaseException:  # a SystemExit of the callable is a failure of that configuration, too
            text = "failed\n" + traceback.format_exc(limit=-3)
        channel.send(text.encode("utf-8", "replace")[: 1 << 16])


def _end_with(parent: int) -> None:
    """A callable that hangs must not outlive a parent that is killed. Elsewhere than on Linux it may."""
    PR_SET_PDEATHSIG = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (AttributeError, OSError):
        return
    if os.getppid() != parent:
        os._exit(0)


class Process:
    """A forked worker with its channel, which keeps the borders of messages."""

    def __init__(self, job: Job, listener: socket.socket) -> None:
        sys.stdout.flush()
        sys.stderr.flush()
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        parent = os.getpid()
        self.pid = os.fork()
        if self.pid == 0:
            try:
                _end_with(parent)
                self.channel.close()
                listener.close()
                os.setsid()  # what the callable starts ends with the worker
                null = os.open(os.devnull, os.O_RDWR)
                os.dup2(null, 0)
                os.dup2(null, 1)
                _serve(job, theirs)
            finally:
                os._exit(0)
        theirs.close()

    def kill(self) -> None:
        self.channel.close()
        for kill in (os.killpg, os.kill):
            try:
                kill(self.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                pass
        try:
            os.waitpid(self.pid, 0)
        except ChildProcessError:
            pass

# SPDX-License-Identifier: BSD-3-Clause
"""The process in which a callable runs: one that lives as long as it works, so that compiled code and device contexts
stay. A crash or a hang costs one trial; the tuning process then forks another one."""

from __future__ import annotations

import ctypes
import json
import os
import random
import signal
import socket
import sys
import time
import traceback
from typing import Any, Callable, Dict, Optional, Sequence, Tuple

from ._checks import RIGHT, UNCHECKED, WRONG, Checks, finish, is_promise, refuse
from ._inputs import Inputs
from ._params import Space

BATCH_S = 2e-3  # a sample lasts at least this long, so that the clock and the call itself do not matter
BATCH_MAX_S = 0.1  # with the time that restoring inputs takes
WHY_MAX = 8000


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
        refuse(function)
        self.function, self.space, self.default = function, space, default
        self.verify = None if metric and verify == "baseline" else verify
        self.synchronize, self.metric, self.rtol = synchronize, metric, rtol


class Worker:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.batches: Dict[Any, int] = {}
        self.wrong: Dict[Any, str] = {}
        self.checks = Checks(job.verify, job.metric, job.default, job.rtol)
        self.inputs = Inputs(job.function)
        self.promises = False  # a call has returned before its work was done
        self.random = random.Random()
        self.compared = 0  # results, for the answer under way

    def _call(self, config: Dict[str, Any]) -> Any:
        self.inputs.restore()
        result = self.job.function(**config)
        if is_promise(result):
            result = finish(result)
            self.promises = True
        if self.job.synchronize:
            self.job.synchronize()
        return result

    def _check(self, key: Any, config: Dict[str, Any], result: Any) -> None:
        """A result that was wrong once stays wrong."""
        status, why = self.checks.check(config, result, self._call)
        self.compared += status != UNCHECKED
        if status == WRONG:
            self.wrong[key] = why

    def _time(self, config: Dict[str, Any], batch: int) -> Tuple[float, Any]:
        """The seconds of so many calls, and the result of the last one."""
        function, synchronize = self.job.function, self.job.synchronize
        if self.inputs.changed or self.promises:
            return self._time_apart(config, batch)
        begun = time.perf_counter()
        for _ in range(batch - 1):
            function(**config)
        result = function(**config)
        if synchronize:
            synchronize()
        return time.perf_counter() - begun, result

    def _time_apart(self, config: Dict[str, Any], batch: int) -> Tuple[float, Any]:
        """Each call has its own time, because its inputs are restored in between, or its promise is kept."""
        seconds = 0.0
        for _ in range(batch):
            result = None  # as in a loop that drops each result
            self.inputs.restore()
            begun = time.perf_counter()
            result = self.job.function(**config)
            if is_promise(result):
                result = finish(result)
            if self.job.synchronize:
                self.job.synchronize()
            seconds += time.perf_counter() - begun
        return seconds, result

    def _first(self, key: Any, config: Dict[str, Any]) -> None:
        """The first calls of a configuration: they may compile, they are verified, and they are not timed."""
        self.checks.prepare(config, self._call)
        self.inputs.look()
        result = self._call(config)
        self._check(key, config, result)
        self.inputs.look()
        batch = 1
        while not self.job.metric and key not in self.wrong:
            begun = time.perf_counter()
            took, last = self._time(config, batch)
            self._check(key, config, last)
            self.inputs.look()
            if batch == 1 and key not in self.wrong:
                kept = self.checks.leftover(config, result, last, self._call)
                self.wrong.update({key: kept} if kept else {})
            result = None
            if took >= BATCH_S or batch >= 1 << 20 or time.perf_counter() - begun > BATCH_MAX_S:
                break
            batch = max(batch * 2, int(batch * BATCH_S / max(took, 1e-9)))
        self.batches[key] = batch

    def _sample(self, key: Any, config: Dict[str, Any]) -> float:
        if self.job.metric:
            result = self._call(config)
            self._check(key, config, result)
            return float(result)
        # Another number of calls each time, so that the last one is not always, say, of an even number.
        batch = self.batches[key] + self.random.randrange((self.batches[key] + 5) // 4)
        seconds, result = self._time(config, batch)
        self._check(key, config, result)
        return seconds / batch

    def answer(self, words: Sequence[str]) -> Dict[str, Any]:
        """`checked` counts the results that were compared, and `why` says why one is wrong, or why none was."""
        config = {name: self.job.space.value(name, word) for name, word in zip(self.job.space.words, words)}
        key = tuple(words)
        self.compared = 0
        if self.checks.why:
            self.wrong.clear()  # the default was not what they should have been compared with
        if key not in self.batches and key not in self.wrong:
            self._first(key, config)
        value = 1.0 if key in self.wrong else self._sample(key, config)
        status = WRONG if key in self.wrong else UNCHECKED if self.checks.why else RIGHT
        why = self.wrong.get(key) or self.checks.why
        return {"status": status, "why": why, "value": value, "checked": self.compared, "changed": self.inputs.changed}


def _serve(job: Job, channel: socket.socket) -> None:
    worker = Worker(job)
    while True:
        request = channel.recv(1 << 16)
        if not request:
            return
        try:
            answer = worker.answer(request.decode().split("\0"))
        except KeyboardInterrupt:
            return
        except BaseException:  # a SystemExit of the callable is a failure of that configuration, too
            answer = {"status": "failed", "why": traceback.format_exc(limit=-3)[-WHY_MAX:]}
        answer["why"] = answer["why"][-WHY_MAX:].encode("utf-8", "replace").decode()
        channel.send(json.dumps(answer).encode())


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

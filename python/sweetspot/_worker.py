# SPDX-License-Identifier: BSD-3-Clause
"""The process in which a callable runs: one that lives as long as it works, so that compiled code and device contexts
stay. A crash or a hang costs one trial; the tuning process then starts another one."""

from __future__ import annotations

import ctypes
import inspect
import json
import os
import pickle
import random
import signal
import subprocess
import sys
import time
import traceback
from multiprocessing.connection import Connection, Pipe
from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

from ._checks import RIGHT, UNCHECKED, WRONG, Checks, finish, is_promise, refuse
from ._inputs import Inputs
from ._params import Space
from ._study import Reports

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
        if metric is not None and not isinstance(metric, str):
            raise TypeError("metric must be None (time), 'returned' or a name in the dictionary that the callable returns")
        refuse(function)
        self.function, self.space, self.default = function, space, default
        self.verify = None if metric and verify == "baseline" else verify
        self.synchronize, self.metric, self.rtol = synchronize, metric, rtol

    def open(self) -> "Worker":
        return Worker(self)


class CallTrial(Reports):
    """The argument `trial` of a callable that asks for it. Where should_prune() is true, the result does not count."""

    def __init__(self, others: Sequence[Reports], may_end: bool) -> None:
        super().__init__(others)
        self.may_end, self.pruned = may_end, False

    def should_prune(self) -> bool:
        self.pruned = self.pruned or (self.may_end and super().should_prune())
        return self.pruned


def takes_trial(function: Callable[..., Any], space: Space) -> bool:
    try:
        return "trial" in inspect.signature(function).parameters and "trial" not in space.words
    except (TypeError, ValueError):
        return False


class Worker:
    def __init__(self, job: Job) -> None:
        self.job = job
        self.function = self._reporting if takes_trial(job.function, job.space) else job.function
        self.reported: List[Reports] = []  # of the first call of each configuration
        self.trial: Optional[CallTrial] = None  # of the last call
        self.opens = False  # it is the first call
        self.pruned: Dict[Any, float] = {}  # what the value of a configuration that was given up is worse than
        self.batches: Dict[Any, int] = {}
        self.first: Dict[Any, float] = {}  # seconds of a long call that was timed to find its batch: a sample already
        self.wrong: Dict[Any, str] = {}
        self.checks = Checks(job.verify, job.metric, job.default, job.rtol)
        self.inputs = Inputs(job.function)
        self.promises = False  # a call has returned before its work was done
        self.random = random.Random()
        self.compared = 0  # results, for the answer under way
        self.metrics: Dict[str, float] = {}  # the other numbers that the callable has returned with its cost

    def _reporting(self, **config: Any) -> Any:
        """Only the first call of a configuration may give up, and never the default."""
        self.trial = CallTrial(self.reported, self.opens and config != self.job.default)
        if self.opens:
            self.reported.append(self.trial)
        return self.job.function(**config, trial=self.trial)

    def _call(self, config: Dict[str, Any]) -> Any:
        self.inputs.restore()
        result = self.function(**config)
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
        function, synchronize = self.function, self.job.synchronize
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
            result = self.function(**config)
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
        self.opens, begun = True, time.perf_counter()
        result = self._call(config)
        self.opens = False
        if self.trial and self.trial.pruned:
            reports = self.trial.reports
            self.pruned[key] = reports[max(reports)] if self.job.metric else time.perf_counter() - begun
            return
        self._check(key, config, result)
        self.inputs.look()
        batch, took = 1, 0.0
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
        if self.job.metric:
            self.first[key] = self._cost(result)
        elif batch == 1 and took >= BATCH_MAX_S:
            self.first[key] = took

    def _sample(self, key: Any, config: Dict[str, Any]) -> float:
        if key in self.first:
            return self.first.pop(key)
        if self.job.metric:
            result = self._call(config)
            self._check(key, config, result)
            return self._cost(result)
        # Another number of calls each time, so that the last one is not always, say, of an even number.
        batch = self.batches[key] + self.random.randrange((self.batches[key] + 5) // 4)
        seconds, result = self._time(config, batch)
        self._check(key, config, result)
        return seconds / batch

    def _cost(self, result: Any) -> float:
        if not isinstance(result, dict):
            return float(result)
        self.metrics = {str(name): float(value) for name, value in result.items()}
        name = next(iter(result)) if self.job.metric == "returned" else self.job.metric
        if name not in self.metrics:
            raise KeyError("the callable returned %s, but metric is %r" % (", ".join(self.metrics), name))
        return self.metrics[name]

    def request(self, text: bytes) -> Dict[str, Any]:
        return self.answer(text.decode().split("\0"))

    def answer(self, words: Sequence[str]) -> Dict[str, Any]:
        """`checked` counts the results that were compared, and `why` says why one is wrong, or why none was."""
        config = {name: self.job.space.value(name, word) for name, word in zip(self.job.space.words, words)}
        key = tuple(words)
        self.compared, self.opens = 0, False
        if self.checks.why:
            self.wrong.clear()  # the default was not what they should have been compared with
        if not (key in self.batches or key in self.wrong or key in self.pruned):
            self._first(key, config)
        value = 1.0 if key in self.wrong else self.pruned[key] if key in self.pruned else self._sample(key, config)
        status = WRONG if key in self.wrong else UNCHECKED if self.checks.why else RIGHT
        why = self.wrong.get(key) or self.checks.why
        return {
            "status": status,
            "why": why,
            "value": value,
            "pruned": key in self.pruned,
            "checked": self.compared,
            "changed": self.inputs.changed,
            "metrics": self.metrics,
        }


def _failure(error: BaseException) -> Dict[str, Any]:
    """What the tuning process says of an exception of the callable."""
    lines = traceback.format_exception(type(error), error, error.__traceback__)
    ours = [i for i, line in enumerate(lines) if __file__ in line]
    text = "".join(lines[:1] + lines[ours[-1] + 1 :] if ours else lines)
    short = "".join(traceback.format_exception_only(type(error), error)).strip()
    at = traceback.extract_tb(error.__traceback__)
    place = " (%s:%s)" % (at[-1].filename, at[-1].lineno) if at else ""
    return {"status": "failed", "why": (short + place)[-WHY_MAX:], "traceback": text[-WHY_MAX:]}


def _answer(worker: Any, request: bytes) -> Dict[str, Any]:
    try:
        answer: Dict[str, Any] = worker.request(request)
        return answer
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a SystemExit of the callable is a failure of that configuration, too
        return _failure(error)


def _end_with(parent: int) -> None:
    """A callable that hangs must not outlive a parent that is killed. Elsewhere than on Linux it may."""
    PR_SET_PDEATHSIG = 1
    try:
        ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    except (AttributeError, OSError):
        return
    if os.getppid() != parent:
        os._exit(0)


def main(handle: int, parent: int) -> None:
    """The worker: its first message is a job, which opens what answers the others."""
    _end_with(parent)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the process that tunes
    channel = Connection(handle)
    worker: Any = None
    broken: Dict[str, Any] = {}
    try:
        worker = pickle.loads(channel.recv_bytes()).open()
    except BaseException as error:
        broken = _failure(error)
    try:
        channel.send_bytes(b"ready")
        while True:
            request = channel.recv_bytes()
            answer = _answer(worker, request) if worker else broken
            answer["why"] = answer["why"][-WHY_MAX:].encode("utf-8", "replace").decode()
            channel.send_bytes(json.dumps(answer).encode())
    except (EOFError, OSError):  # the process that tunes has ended, perhaps before it read an answer
        os._exit(0)


class Process:
    """A worker with its channel. It is a new Python, not a fork of this process: threads of this one, such as those of
    an OpenMP runtime or of a GPU's driver, would be missing in a fork, which then waits for them."""

    def __init__(self, packed: bytes) -> None:
        self.channel, theirs = Pipe()
        code = "import sys; sys.path[:] = %r; from sweetspot._worker import main; main(%d, %d)"
        self.process = subprocess.Popen(
            [sys.executable, "-c", code % (sys.path, theirs.fileno(), os.getpid())],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            pass_fds=[theirs.fileno()],
            start_new_session=True,  # what the callable starts ends with the worker
        )
        theirs.close()
        self.ready = False
        try:
            self.channel.send_bytes(packed)
        except OSError:  # it has ended already, and its message is on stderr
            pass

    def kill(self) -> None:
        self.channel.close()
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass
        self.process.kill()
        self.process.wait()

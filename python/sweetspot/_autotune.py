# SPDX-License-Identifier: BSD-3-Clause
"""Functions that tune themselves at their first calls: no call is made that the program would not have made."""

from __future__ import annotations

import datetime
import fcntl
import functools
import hashlib
import inspect
import json
import math
import os
import re
import statistics
import subprocess
import tempfile
import threading
import time
import warnings
from typing import Any, Callable, Dict, Generator, List, Mapping, Optional, Sequence, Tuple, TypeVar

from ._command import SweetspotError, program
from ._inside import Context, declare
from ._params import Space, Value, module
from ._profile import Profile
from ._study import Study

F = TypeVar("F", bound=Callable[..., Any])
Config = Dict[str, Any]
Timed = Callable[[Callable[[], Any]], Tuple[Any, float]]
_PAIRS, _WON = 13, 12  # of thirteen pairs of equals one side wins twelve or more in .17 % of cases
_LOST = 1.5  # a candidate that takes this many times what holds is given up after one call


def _events(arguments: Sequence[Any]) -> Optional[Timed]:
    """Times by events of the device, if an argument lies on one of PyTorch's (and so Triton's), CuPy's or Numba's."""
    for each in arguments:
        name = type(each).__module__.partition(".")[0]
        if name == "torch" and getattr(each, "is_cuda", False):
            cuda = module("torch").cuda
            return _timed(lambda: cuda.Event(enable_timing=True), lambda a, b: 1e-3 * float(a.elapsed_time(b)))
        if name == "cupy":
            device = module("cupy").cuda
            return _timed(device.Event, lambda a, b: 1e-3 * float(device.get_elapsed_time(a, b)))
        if name == "numba" and hasattr(each, "copy_to_host"):
            numba = module("numba.cuda")
            return _timed(numba.event, lambda a, b: 1e-3 * float(numba.event_elapsed_time(a, b)))
    return None


def _timed(event: Callable[[], Any], elapsed: Callable[[Any, Any], float]) -> Timed:
    def call(function: Callable[[], Any]) -> Tuple[Any, float]:
        begin, end = event(), event()
        begin.record()
        result = function()
        end.record()
        end.synchronize()
        return result, elapsed(begin, end)

    return call


def _clock(synchronize: Optional[Callable[[], Any]]) -> Timed:
    def call(function: Callable[[], Any]) -> Tuple[Any, float]:
        if synchronize:
            synchronize()
        start = time.perf_counter()
        result = function()
        if synchronize:
            synchronize()
        return result, time.perf_counter() - start

    return call


def _members(name: str, value: Any) -> Config:
    """A part of the key as members of a problem: an array counts by its shape and type."""
    if isinstance(value, (bool, int, float)) or (hasattr(value, "item") and not getattr(value, "shape", ())):
        return {name: float(value) if isinstance(value, float) else int(value)}
    shape = getattr(value, "shape", None)
    if shape is None:
        return {name: str(value)}
    size: Any = int(shape[0]) if len(shape) == 1 else "x".join(str(int(each)) for each in shape)
    return {name: size, name + "_type": str(getattr(value, "dtype", type(value).__name__))}


class Outcome:
    """What the first calls have found."""

    def __init__(self, config: Config, verdict: str, median: float, default: float, ratio: float, calls: int) -> None:
        self.config, self.verdict, self.median, self.default = config, verdict, median, default
        self.ratio, self.calls = ratio, calls


def _pair(
    one: Config, other: Config, swapped: bool
) -> Generator[Config, Optional[float], Tuple[Optional[float], Optional[float]]]:
    """Both run; pairs take turns in which of them runs first, so that a machine that gets slower favours neither."""
    if swapped:
        second = yield other
        return (yield one), second
    first = yield one
    return first, (yield other)


def _search(
    study: Study, default: Config, trials: int, repeat: int
) -> Generator[Config, Optional[float], Outcome]:
    """Yields the configuration of the next call and gets its seconds: None if it failed. The first call of a
    configuration may compile and does not count. Each candidate runs in turn with what holds, so that a drift of the
    machine or of the work decides nothing, and at last the winner with the default."""
    calls = 1
    yield default
    held: List[float] = []
    best, scale = default, 1.0  # the time of the best relative to the default's
    for _ in range(trials):
        trial = study.ask()
        if trial is None:
            break
        if trial.config == default:
            study.tell(trial, 1.0)
            continue
        calls += 1
        ratios: List[float] = []
        failed = (yield trial.config) is None
        while not failed and len(ratios) < repeat:
            seconds, usual = yield from _pair(trial.config, best, len(ratios) % 2 == 1)
            calls += 2
            failed = seconds is None or usual is None
            if seconds is not None and usual is not None:
                held.append(usual)
                ratios.append(seconds / max(usual, 1e-12))
                if ratios[-1] > _LOST:
                    break
        study.tell(trial, None if failed else scale * statistics.median(ratios))
        if not failed and statistics.median(ratios) < 0.98 and len(ratios) == repeat:
            best, scale = trial.config, scale * statistics.median(ratios)
    won: List[float] = []
    times: List[Tuple[float, float]] = []
    while best != default and len(won) < _PAIRS and sum(each <= 1 for each in won) <= _PAIRS - _WON:
        first, second = yield from _pair(best, default, len(won) % 2 == 1)
        calls += 2
        if first is None or second is None:
            best = default
        else:
            won.append(second / max(first, 1e-12))
            times.append((first, second))
    ratio = statistics.median(won) if won else 1.0
    if best == default or ratio < 1.01 or sum(each > 1 for each in won) < _WON:
        usual = statistics.median([second for _, second in times] or held or [math.nan])
        return Outcome(default, "tie", usual, usual, 1.0, calls)
    median, base = (statistics.median(each) for each in zip(*times))
    return Outcome(best, "faster", median, base, ratio, calls)


class _File:
    """A profile of the function's results, for later processes."""

    def __init__(self, name: str, source: str) -> None:
        home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
        self.path = os.path.join(home, "sweetspot", "autotune", re.sub(r"[^A-Za-z0-9_.-]", "_", name)[:120] + ".json")
        self.name, self.source = name, source

    def _document(self) -> Config:
        try:
            with open(self.path, encoding="utf-8") as file:
                document = json.load(file)
            with Profile(self.path) as profile:
                return {} if profile.foreign or not isinstance(document.get("entries"), list) else document
        except (OSError, ValueError, AttributeError, SweetspotError):
            return {}

    def find(self, problem: Config) -> Optional[Config]:
        for entry in self._document().get("entries", ()):
            if entry.get("source") == self.source and entry.get("problem") == problem:
                config: Config = entry.get("config", {})
                return config
        return None

    def add(self, problem: Config, words: Callable[[Config], Config], default: Config, outcome: Outcome) -> None:
        from . import __version__

        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        entry = {
            "kernel": self.name,
            "source": self.source,
            "problem": problem,
            "objective": "time",
            "config": words(outcome.config),
            "environment": {},
            "median": outcome.median,
            "ci": None,
            "unit": "s",
            "baseline": {"config": words(default), "median": outcome.default, "ci": None},
            "speedup": {"ratio": outcome.ratio, "ci": [outcome.ratio, outcome.ratio]},
            "verdict": outcome.verdict,
            "noise_floor": None,
            "state": "current",
            "provenance": {
                "version": __version__,
                "command": "sweetspot.autotune",
                "strategy": "auto",
                "seed": 1,
                "evaluations": outcome.calls,
                "measured": now,
                "session": 0,
                "search": 0,
            },
        }
        os.makedirs(os.path.dirname(self.path), mode=0o700, exist_ok=True)
        with open(self.path + ".lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            document = self._document() or {"schema": "sweetspot-profile/1", "generator": "sweetspot.autotune", "entries": []}
            others = [each for each in document["entries"] if each.get("source") == self.source and each.get("problem") != problem]
            document.update(created=now, entries=[*others, entry])
            if "machine" not in document:
                document["machine"] = json.loads(subprocess.run([program(), "machine", "--json"], stdout=subprocess.PIPE, check=True).stdout)
            with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(self.path), delete=False) as file:
                json.dump(document, file)
            os.replace(file.name, self.path)


class _Key:
    """A problem of the function: what it runs with, or the search that goes on."""

    def __init__(self, config: Config) -> None:
        self.lock = threading.Lock()
        self.config = config
        self.search: Optional[Generator[Config, Optional[float], Outcome]] = None
        self.next: Config = config
        self.study: Optional[Study] = None


class _Tuned:
    def __init__(self, function: Callable[..., Any], params: Mapping[str, Sequence[Value]], options: Config) -> None:
        self.function, self.space, self.options = function, Space(params), options
        self.default = {**self.space.first(), **(options["default"] or {})}
        self.params, self.signature = params, inspect.signature(function)
        target = getattr(function, "__wrapped__", function)
        code = getattr(getattr(target, "py_func", target), "__code__", None)
        text = repr((sorted(self.space.words.items()), options["constraints"], code.co_code if code else "", code.co_consts if code else ""))
        name = options["name"] or "%s.%s" % (function.__module__, getattr(function, "__qualname__", type(function).__name__))
        self.file = _File(name, "sha256:" + hashlib.sha256(re.sub(r" at 0x[0-9a-f]+", "", text).encode()).hexdigest())
        self.keys: Dict[Any, _Key] = {}
        self.lock = threading.Lock()

    def words(self, config: Config) -> Config:
        return {name: self.space.json(self.space.word(name, value)) for name, value in config.items()}

    def problem(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Config:
        bound = self.signature.bind_partial(*args, **kwargs)
        bound.apply_defaults()
        problem: Config = {}
        for name in self.options["key"]:
            if name not in bound.arguments:
                raise TypeError("the key %s is not an argument of %s" % (name, self.file.name))
            problem.update(_members(name, bound.arguments[name]))
        return problem

    def _stored(self, problem: Config) -> Optional[Config]:
        try:
            with Profile() as profile:
                match = profile.lookup(self.file.name, **problem)
            config = match.config if match and match.status == "exact" else None
        except SweetspotError:
            config = None
        found = config or self.file.find(problem)
        try:
            return {**self.default, **{k: self.space.value(k, v) for k, v in found.items() if k in self.space.values}} if found else None
        except ValueError:
            return None

    def _key(self, problem: Config) -> _Key:
        identity = tuple(sorted(problem.items()))
        with self.lock:
            if identity not in self.keys:
                stored = self._stored(problem)
                key = self.keys[identity] = _Key(stored or self.default)
                if not stored:
                    key.study = Study(self.params, constraints=self.options["constraints"], budget=self.options["trials"])
                    key.search = _search(key.study, self.default, self.options["trials"], self.options["repeat"])
                    key.next = next(key.search)
            return self.keys[identity]

    def _advance(self, key: _Key, problem: Config, seconds: Optional[float]) -> None:
        assert key.search and key.study
        try:
            key.next = key.search.send(seconds)
            return
        except StopIteration as end:
            key.config, key.search = end.value.config, None
            key.study.close()
            outcome: Outcome = end.value
        except SweetspotError as error:  # the program behind the search is missing or ended
            key.search = None
            warnings.warn("%s keeps its default: %s" % (self.file.name, error), RuntimeWarning, stacklevel=4)
            return
        try:
            self.file.add(problem, self.words, self.default, outcome)
        except (OSError, SweetspotError, subprocess.SubprocessError) as error:
            warnings.warn("what was found for %s cannot be kept: %s" % (self.file.name, error), RuntimeWarning, stacklevel=4)

    def call(self, *args: Any, **kwargs: Any) -> Any:
        if any(name in kwargs for name in self.space.values):  # the caller chooses
            return self.function(*args, **{**self.default, **kwargs})
        problem = self.problem(args, kwargs)
        if "SWEETSPOT_INSIDE_RING" in os.environ:  # `sweetspot tune` or `apply --learn` decides what is tried
            return self._inside(problem, args, kwargs)
        key = self._key(problem)
        if not key.search or not key.lock.acquire(blocking=False):
            return self.function(*args, **kwargs, **key.config)
        try:
            return self._trial(key, problem, args, kwargs) if key.search else self.function(*args, **kwargs, **key.config)
        finally:
            key.lock.release()

    def _inside(self, problem: Config, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        declared = declare(self.file.name, self.params, self.default, self.options["constraints"])
        timed = _events((*args, *kwargs.values())) or _clock(self.options["synchronize"])
        with Context(declared, problem) as choice:
            result, seconds = timed(lambda: self.function(*args, **kwargs, **choice.config))
            choice.report(seconds)
        return result

    def _trial(self, key: _Key, problem: Config, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        config = key.next
        timed = _events((*args, *kwargs.values())) or _clock(self.options["synchronize"])
        try:
            result, seconds = timed(lambda: self.function(*args, **kwargs, **config))
        except Exception:
            if config == self.default:
                raise
            self._advance(key, problem, None)
            return self.function(*args, **kwargs, **self.default)
        self._advance(key, problem, seconds)
        return result


def autotune(
    params: Mapping[str, Sequence[Value]],
    *,
    key: Sequence[str] = (),
    default: Optional[Mapping[str, Value]] = None,
    constraints: Sequence[str] = (),
    trials: int = 30,
    repeat: int = 2,
    synchronize: Optional[Callable[[], Any]] = None,
    name: Optional[str] = None,
) -> Callable[[F], F]:
    """A decorator: the function gets the parameters as keyword arguments, and tunes itself at its first calls.

        @sweetspot.autotune({"block": [64, 128, 256]}, key=["n"])
        def scale(x, n, block): ...

    key           arguments on whose values the best depends: numbers, words, or arrays, of which shape and type count
    default       the configuration used today; each parameter's first value where it is not named
    constraints   as of tune()
    trials        configurations to try for each key, of which each takes 1 + 2 * repeat calls
    synchronize   waits for an asynchronous function; arrays of PyTorch, CuPy and Numba on a GPU are timed by events
    name          in the profile; the function's own is MODULE.NAME

    Each of the first calls for a key is the program's own, with one configuration, so that nothing is computed twice:
    any configuration must give the right result. A candidate runs in turn with what holds, and is given up as soon as it
    is clearly slower; one that raises is not tried again, and the call is made with the default. The winner must win
    twelve of thirteen calls against the default. It is kept in $XDG_DATA_HOME/sweetspot/autotune, and later processes on
    this machine begin with it, until the function or its parameters change. A call that names a parameter itself
    decides alone.
    """
    options: Config = {"key": tuple(key), "default": default, "constraints": tuple(constraints), "trials": trials}
    options.update(repeat=repeat, synchronize=synchronize, name=name)

    def decorate(function: F) -> F:
        tuned = _Tuned(function, params, options)

        @functools.wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            return tuned.call(*args, **kwargs)

        return call  # type: ignore[return-value]

    return decorate

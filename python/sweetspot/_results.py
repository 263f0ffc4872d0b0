# SPDX-License-Identifier: BSD-3-Clause
"""Results as dataclasses. `raw` always has the whole document that sweetspot(1) printed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Tuple


@dataclass(frozen=True)
class Ratio:
    """A factor with its 95 % interval; above 1 means faster."""

    ratio: float
    low: float
    high: float

    def __str__(self) -> str:
        return "%.3gx [%.3g, %.3g]" % (self.ratio, self.low, self.high) if self.ratio == self.ratio else "not measured"


@dataclass(frozen=True)
class Measurement:
    """A configuration and its cost: the median and its 95 % interval, in `unit`."""

    config: Dict[str, Any]
    median: float
    interval: Tuple[float, float]
    unit: str


@dataclass(frozen=True)
class Trial:
    """One measurement of a configuration.

    `value` is its median, None if it failed; of a censored trial it is a lower bound. `phase` is "baseline", "search",
    "race", "duel" or the like, `status` "correct", "censored", "runtime", "timeout", "correctness" or "constraints",
    `message` the reason of a failure."""

    config: Dict[str, Any]
    value: Optional[float]
    phase: str
    status: str
    message: Optional[str] = None


@dataclass(frozen=True)
class Checked:
    """How the results of `best` were checked: "output same" as the default's, "verify", or "nothing" because of `why`.

    `runs` counts the runs that were checked; of a callable, the calls."""

    how: str
    runs: int
    why: str = ""

    def __str__(self) -> str:
        return "nothing (%s)" % self.why if self.why else self.how


@dataclass(frozen=True)
class Result:
    """What `tune` found. `verdict` is "faster", "tie", "slower" or "undecided", of `best` against `baseline`."""

    name: str
    verdict: str
    speedup: Ratio
    best: Measurement
    baseline: Measurement
    evaluations: int
    valid: int
    elapsed_s: float
    failures: Dict[str, int]
    raw: Mapping[str, Any] = field(repr=False)
    checked: Optional[Checked] = None
    notes: Tuple[str, ...] = ()
    _trials: Optional[Callable[[], List[Trial]]] = field(default=None, repr=False, compare=False)

    @property
    def proven(self) -> bool:
        """Whether `best` was shown to be faster than `baseline` in interleaved pairs of runs."""
        return self.verdict == "faster"

    def trials(self) -> List[Trial]:
        """Every trial of the search, in order, from the store."""
        return self._trials() if self._trials else []

    def frame(self) -> Any:
        """The trials as a pandas.DataFrame: a column for each parameter, `value`, `phase`, `status` and `message`."""
        rows = [(trial.config, {k: v for k, v in vars(trial).items() if k != "config"}) for trial in self.trials()]
        return _frame([dict(config, **others) for config, others in rows])

    def __str__(self) -> str:
        checked = "; checked: %s" % self.checked if self.checked else ""
        return "%s: %s, %s with %s%s" % (self.name, self.verdict, self.speedup, self.best.config, checked)


@dataclass(frozen=True)
class Comparison:
    """What `compare` found of `a` against `b`. speedup: above 1 where `a` is faster; raw["ratio"] is the ratio of the times."""

    verdict: str
    speedup: Ratio
    a: Measurement
    b: Measurement
    raw: Mapping[str, Any] = field(repr=False)

    def frame(self) -> Any:
        """The interleaved pairs as a pandas.DataFrame: columns `a` and `b`, one row a pair."""
        a, b = (self.raw[side].get("samples") or [] for side in ("a", "b"))
        return _frame([{"a": one, "b": other} for one, other in zip(a, b)])


@dataclass(frozen=True)
class Replay:
    """Runs of a strategy on a recorded space; each run is a dictionary of sweetspot-replay(1)."""

    space: Mapping[str, Any]
    runs: List[Mapping[str, Any]]
    raw: Mapping[str, Any] = field(repr=False)

    def frame(self) -> Any:
        """The runs as a pandas.DataFrame."""
        return _frame([{k: v for k, v in run.items() if not isinstance(v, (list, dict))} for run in self.runs])


def _frame(rows: List[Dict[str, Any]]) -> Any:
    try:
        import pandas
    except ImportError:
        raise ImportError("data frames need pandas: pip install pandas") from None
    return pandas.DataFrame(rows)


def ratio(document: Mapping[str, Any]) -> Ratio:
    """A ratio of a document; an interval that is not known is open."""
    low, high = document.get("ci") or (None, None)
    value = document.get("ratio")
    nan = float("nan")
    return Ratio(nan if value is None else value, 0.0 if low is None else low, float("inf") if high is None else high)


def inverse(times: Ratio) -> Ratio:
    """How many times faster something is that takes `times` of another's time. Times are above 0, an interval may be open."""
    return Ratio(1 / times.ratio, 1 / times.high, 1 / times.low if times.low else float("inf"))


def measurement(document: Mapping[str, Any], values: Callable[[Mapping[str, Any]], Dict[str, Any]]) -> Measurement:
    low, high = document.get("ci") or (None, None)
    median = document.get("median")
    nan = float("nan")
    return Measurement(
        values(document.get("config") or {}),
        nan if median is None else median,
        (nan if low is None else low, nan if high is None else high),
        document.get("unit") or "s",
    )

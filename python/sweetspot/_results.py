# SPDX-License-Identifier: BSD-3-Clause
"""Results as dataclasses. `raw` always has the whole document that sweetspot(1) printed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from ._html import card, svg
from ._params import module


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
    metrics: Mapping[str, float] = field(default_factory=dict)  # what a callable has returned beside its cost


@dataclass(frozen=True)
class Picture:
    """The picture of a report where matplotlib is not installed: `svg` is its text."""

    svg: str

    def _repr_html_(self) -> str:
        return self.svg


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
    """What `tune` found. `verdict` is "faster", "tie", "slower" or "undecided", of `best` against `baseline`; so is
    `speedup`, which is NaN where the budget or Ctrl-C has ended the search before a comparison."""

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
    _trials: Union[None, List[Trial], Callable[[], List[Trial]]] = field(default=None, repr=False, compare=False)

    @property
    def proven(self) -> bool:
        """Whether `best` was shown to be faster than `baseline` in interleaved pairs of runs."""
        return self.verdict == "faster"

    def trials(self) -> List[Trial]:
        """Every trial of the search, in order, from the store."""
        found = self._trials() if callable(self._trials) else self._trials or []
        object.__setattr__(self, "_trials", found)
        return list(found)

    def frame(self) -> Any:
        """The trials as a pandas.DataFrame: a column for each parameter and metric, `value`, `phase`, `status`, `message`."""
        return frame_of(self.trials())

    def effects(self) -> Any:
        """How much each parameter matters, as a pandas.DataFrame."""
        return _frame(self._rows("effects"))

    def worth(self) -> Any:
        """The price of each change, as a pandas.DataFrame; "why" says why one has none."""
        return _frame(self._rows("worth"))

    def pareto(self, *names: str) -> List[Trial]:
        """The trials that no other one beats in all of these metrics, all of which are minimised; "value" is the cost."""
        return pareto([t for t in self.trials() if t.status == "correct"], names)

    def plot(self) -> Any:
        """The trials in their order, and the best so far: matplotlib's axes, or a Picture where it is not installed."""
        return plot(self.trials(), self.name)

    def _rows(self, member: str) -> List[Dict[str, Any]]:
        rows = self.raw["results"][0].get(member) or []
        none = (None, None)
        return [{**{k: v for k, v in row.items() if k != "ci"},
                 **dict(zip(("low", "high"), none if row.get("ratio", 1) is None else row.get("ci") or ()))} for row in rows]

    def _repr_html_(self) -> str:
        return card(self)

    def __getstate__(self) -> Dict[str, Any]:
        self.trials()
        return self.__dict__

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
        pandas = module("pandas")
    except ImportError:
        raise ImportError("data frames need pandas: pip install pandas") from None
    return pandas.DataFrame(rows)


def frame_of(trials: Sequence[Trial]) -> Any:
    others = ("phase", "status", "message")
    return _frame([{**t.config, "value": t.value, **t.metrics, **{name: getattr(t, name) for name in others}} for t in trials])


def _metric(trial: Trial, name: str, sign: float) -> float:
    value = trial.value if name == "value" else trial.metrics.get(name)
    return float("inf") if value is None else sign * value


def pareto(trials: Sequence[Trial], names: Sequence[str], larger: bool = False) -> List[Trial]:
    rows = [tuple(_metric(trial, name, -1.0 if larger else 1.0) for name in names or ("value",)) for trial in trials]
    beaten = [any(other != row and all(x <= y for x, y in zip(other, row)) for other in rows) for row in rows]
    front: List[Trial] = []
    for trial, loses in zip(trials, beaten):
        if not loses and all(trial.config != other.config for other in front):  # one that was measured twice
            front.append(trial)
    return front


def plot(trials: Sequence[Trial], title: str) -> Any:
    try:
        pyplot = module("matplotlib.pyplot")
    except ImportError:
        return Picture(svg(trials, title))
    values = [trial.value for trial in trials if trial.value is not None]
    _, axes = pyplot.subplots()
    axes.plot(values, "o", markersize=3)
    axes.plot([min(values[: i + 1]) for i in range(len(values))], color="tab:red")
    axes.set(title=title, xlabel="trials (count)", ylabel="value", yscale="log")
    return axes


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

# SPDX-License-Identifier: BSD-3-Clause
"""The search strategies for a loop of one's own: ask for a configuration, measure it, tell its value."""

from __future__ import annotations

import json
import math
import os
import statistics
import subprocess
import tempfile
from typing import Any, Dict, IO, List, Mapping, Optional, Sequence, Tuple, Union

from ._command import death_signal, failure, program
from ._params import Space, Value
from ._results import Trial, frame_of, pareto, plot

Values = Union[None, float, Mapping[str, float]]


class Reports:
    """Intermediate values of a trial by their step, and those of the `others`, which it is judged by."""

    def __init__(self, others: Sequence["Reports"], larger: bool = False) -> None:
        self.reports: Dict[int, float] = {}
        self._others, self._larger = others, larger

    def report(self, value: float, step: int) -> None:
        self.reports[step] = float(value)

    def should_prune(self) -> bool:
        """Whether the last report is worse than the median of the other trials at that step, of which there are four."""
        step = max(self.reports, default=0)
        others = [other.reports[step] for other in self._others if other is not self and step in other.reports]
        if len(others) < 4 or not self.reports:
            return False
        sign = -1.0 if self._larger else 1.0
        return sign * self.reports[step] > sign * statistics.median(others)


def _finite(value: Any) -> float:
    number = float(value)
    if not math.isfinite(number):
        raise ValueError("a value must be a finite number, not %r; None says that the trial failed" % (value,))
    return number


class StudyTrial(Reports):
    """A configuration to measure. `report` an intermediate value, and give up where `should_prune` says so."""

    def __init__(self, study: "Study", number: int, config: Dict[str, Any]) -> None:
        super().__init__(study._asked, study.direction == "maximize")
        self.number, self.config = number, config

    def __repr__(self) -> str:
        return "StudyTrial(%d, %r)" % (self.number, self.config)


class Study:
    """A search of which the caller makes the measurements.

    params, constraints   as of tune()
    strategy              "auto", or another of `sweetspot list strategies`
    direction             "minimize" or "maximize"
    objectives            names of several values, all of them minimised or maximised: tell() takes them as a mapping,
                          the search looks for the front of two (of more, it follows their product), and front() has the
                          trials that nothing else beats
    budget                the number of trials to plan for; nothing ends when it is used up
    configurations        the only valid ones, where constraints cannot say which they are
    """

    _process: Optional["subprocess.Popen[bytes]"] = None

    def __init__(
        self,
        params: Mapping[str, Sequence[Value]],
        *,
        constraints: Sequence[str] = (),
        strategy: str = "auto",
        direction: str = "minimize",
        objectives: Sequence[str] = (),
        budget: Optional[int] = None,
        seed: int = 1,
        configurations: Optional[Sequence[Mapping[str, Value]]] = None,
    ) -> None:
        if direction not in ("minimize", "maximize"):
            raise ValueError("direction must be 'minimize' or 'maximize', not %r" % (direction,))
        self.space, self.objectives, self.direction = Space(params), tuple(objectives), direction
        self.trials: List[Trial] = []
        self._words = ["suggest", "--strategy=" + strategy, "--seed=%d" % seed, *(["--budget=%de" % budget] if budget else [])]
        self._words += ["--objectives=2"] if len(self.objectives) == 2 else []
        self._document = self._specification(constraints, configurations)
        self._asked: List[StudyTrial] = []
        self._shape: List[Tuple[float, float]] = []  # of each objective, the median and the spread of values that are not all above 0

    def _specification(self, constraints: Sequence[str], rows: Optional[Sequence[Mapping[str, Value]]]) -> Dict[str, Any]:
        values = {name: [self.space.json(word) for word in words] for name, words in self.space.words.items()}
        space: Dict[str, Any] = {
            "TuningParameters": [{"Name": name, "Values": listed} for name, listed in values.items()],
            "Conditions": [{"Expression": text} for text in constraints],
        }
        if rows is not None:
            space["Configurations"] = [[self.space.json(self.space.word(n, row[n])) for n in values] for row in rows]
        return {"ConfigurationSpace": space}

    def _start(self) -> "subprocess.Popen[bytes]":
        with tempfile.TemporaryDirectory(prefix="sweetspot-python-") as folder:
            path = os.path.join(folder, "study.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(self._document, file)
            self._errors: IO[bytes] = tempfile.TemporaryFile()
            process = subprocess.Popen(
                [program(), *self._words, "--spec=" + path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
                start_new_session=True,
                preexec_fn=death_signal(),
            )
            self._process = process
            self._request({"op": "tell", "config": {}, "value": None}, strict=False)  # it has read the file when it answers
        return process

    def _request(self, request: Mapping[str, Any], strict: bool = True) -> Dict[str, Any]:
        process = self._process or self._start()
        assert process.stdin and process.stdout
        try:
            process.stdin.write(json.dumps(request).encode() + b"\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except OSError:
            line = b""
        if not line:
            raise failure(process.wait(), self.close())
        answer: Dict[str, Any] = json.loads(line)
        if strict and "error" in answer:
            raise ValueError(answer["error"]["what"])
        return answer

    def close(self) -> str:
        """Ends the program behind it, and returns what it has said on stderr; another ask() goes on from the trials."""
        process, self._process = self._process, None
        if not (process and process.stdin and process.stdout):
            return ""
        process.terminate()
        process.wait()
        process.stdout.close()
        try:
            process.stdin.close()
        except OSError:  # the rest of a request that nobody reads
            pass
        with self._errors as errors:
            errors.seek(0)
            return errors.read().decode("utf-8", "replace")

    def __del__(self) -> None:
        self.close()

    def __getstate__(self) -> Dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k not in ("_process", "_errors")}

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        self.__dict__.update(state, _process=None)

    def ask(self) -> Optional[StudyTrial]:
        """The next configuration to measure; None when all of them have been asked for."""
        if not self._process:
            self._start()
            for trial in self.trials:
                self._forward(trial, self._words_of(trial.config))
        found = self._request({"op": "ask"})["configs"]
        if not found:
            return None
        self._asked.append(StudyTrial(self, len(self._asked), self.space.config(found[0])))
        return self._asked[-1]

    def tell(self, trial: Union[StudyTrial, Mapping[str, Any]], value: Values, *, pruned: bool = False) -> None:
        """The value of a trial, or of any valid configuration; None where it does not work. pruned: it was given up."""
        config = dict(trial.config if isinstance(trial, StudyTrial) else trial)
        if isinstance(trial, StudyTrial) and pruned and value is None and trial.reports:
            value = trial.reports[max(trial.reports)]
        cost, metrics = self._cost(value)
        status = "runtime" if cost is None else "censored" if pruned else "correct"
        told = Trial(config, cost, "search", status, None, metrics)
        words = self._words_of(config)  # ValueError where it has another value
        if self._process and not self._is_beside(told):
            self._forward(told, words)
        self.trials.append(told)
        if self._is_beside(told):
            self._reshape()

    def _is_beside(self, told: Trial) -> bool:
        """Is it the first value that is not above 0?"""
        return told.value is not None and min(self._parts(told)) <= 0 and not self._shape

    def _words_of(self, config: Mapping[str, Any]) -> Dict[str, Any]:
        return {name: self.space.json(self.space.word(name, each)) for name, each in config.items()}

    def _cost(self, value: Values) -> "tuple[Optional[float], Mapping[str, float]]":
        if value is None:
            return None, {}
        if not isinstance(value, Mapping):
            if self.objectives:
                raise TypeError("tell a mapping with %s" % ", ".join(self.objectives))
            return _finite(value), {}
        names = self.objectives or tuple(value)[:1]
        metrics = {name: _finite(each) for name, each in value.items()}
        return math.prod(metrics[name] for name in names), metrics

    def _parts(self, trial: Trial) -> List[float]:
        """What the search is told of: both of two objectives, else the value."""
        if len(self.objectives) == 2:
            return [trial.metrics[name] for name in self.objectives]
        return [trial.value or 0.0]

    def _reshape(self) -> None:
        """Costs of the strategies are above 0; values that are not are told as exponentials, which keep their order."""
        for values in zip(*(self._parts(trial) for trial in self.trials if trial.value is not None)):
            self._shape.append((statistics.median(values), statistics.pstdev(values) or abs(values[0]) or 1.0))
        self.close()  # ask() tells all of them again

    def _turned(self, trial: Trial) -> List[float]:
        sign, parts = -1.0 if self.direction == "maximize" else 1.0, self._parts(trial)
        if not self._shape:
            return [value**sign for value in parts]
        return [math.exp(max(-600.0, min(600.0, sign * (v - middle) / spread))) for v, (middle, spread) in zip(parts, self._shape)]

    def _forward(self, trial: Trial, words: Mapping[str, Any]) -> None:
        value, *second = self._turned(trial) if trial.value is not None else [None]
        request = {"op": "tell", "config": words, "value": value, "censored": trial.status == "censored"}
        self._request({**request, "second": second[0]} if second else request)

    @property
    def best(self) -> Trial:
        """The best trial so far; ValueError if none has worked."""
        values = [trial for trial in self.trials if trial.value is not None and trial.status == "correct"]
        if not values:
            raise ValueError("no trial has worked yet")
        return (min if self.direction == "minimize" else max)(values, key=lambda trial: trial.value or 0.0)

    def front(self) -> List[Trial]:
        """The trials that no other one beats in all objectives."""
        return pareto([t for t in self.trials if t.status == "correct"], self.objectives, self.direction == "maximize")

    def frame(self) -> Any:
        """The trials as a pandas.DataFrame."""
        return frame_of(self.trials)

    def plot_history(self) -> Any:
        """The values in their order: matplotlib's axes, or a Picture where it is not installed."""
        return plot(self.trials, "study")

# SPDX-License-Identifier: BSD-3-Clause
"""A search while it runs: its trials as they come to the store, and the line that shows them."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
import time
from typing import Any, Callable, List, Mapping, Optional, Tuple
from urllib.parse import quote

from ._command import Running
from ._params import Space
from ._results import Trial

Metrics = Mapping[Tuple[str, ...], Mapping[str, float]]
_COLUMNS = "SELECT id, phase, config, status, value, message FROM trials WHERE search = ? AND id > ? ORDER BY id"


class Reader:
    """Reads trials from the store."""

    def __init__(self, space: Optional[Space], options: Mapping[str, Any], metrics: Optional[Metrics] = None) -> None:
        self.space, self.metrics = space, {} if metrics is None else metrics
        self.store: str = options.get("store") or os.path.join(
            os.environ.get("XDG_DATA_HOME") or os.path.expanduser("~/.local/share"), "sweetspot", "store.db"
        )

    def query(self, text: str, values: Tuple[Any, ...] = ()) -> List[Tuple[Any, ...]]:
        if not os.path.exists(self.store):
            return []
        store = sqlite3.connect("file:%s?mode=ro" % quote(os.path.abspath(self.store)), uri=True, timeout=10)
        try:
            return store.execute(text, values).fetchall()
        except sqlite3.OperationalError:  # it is being made
            return []
        finally:
            store.close()

    def trial(self, row: Tuple[Any, ...]) -> Trial:
        _, phase, text, status, value, message = row
        config = json.loads(text)
        found: Mapping[str, float] = {}
        if self.space:
            config = self.space.config(config)
            found = self.metrics.get(self.space.key(config), {})
        return Trial(config, value if status in ("correct", "censored") else None, phase, status, message, found)

    def words(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        """A configuration as the program knows it."""
        return {name: self.space.word(name, value) for name, value in config.items()} if self.space else config

    def trials(self, search: int) -> List[Trial]:
        return [self.trial(row) for row in self.query(_COLUMNS, (search, 0))]


def wants_line(progress: Optional[bool]) -> bool:
    """By default in a terminal and in a notebook."""
    if progress is not None:
        return progress
    notebook = "ipykernel" in sys.modules and type(sys.stderr).__module__.startswith("ipykernel")
    return notebook or bool(sys.stderr and sys.stderr.isatty())


class Line:
    """A line on stderr that is written again and again."""

    def __init__(self, name: str, budget: str) -> None:
        self.name, self.budget, self.begun = name, budget, time.monotonic()
        self.count = self.shown = 0
        self.best: Optional[float] = None
        self.first: Optional[float] = None

    def add(self, trial: Trial) -> None:
        self.count += 1
        if trial.value is not None and trial.status == "correct":
            self.first = trial.value if self.first is None else self.first
            self.best = trial.value if self.best is None else min(self.best, trial.value)

    def show(self) -> None:
        best = "" if self.best is None or self.first is None else ", best %.4g (first %.4g)" % (self.best, self.first)
        text = "%s: %d trials%s, %.0f s, budget %s" % (self.name, self.count, best, time.monotonic() - self.begun, self.budget)
        text = text[:100]
        sys.stderr.write("\r" + text.ljust(self.shown))
        sys.stderr.flush()
        self.shown = len(text)

    def end(self) -> None:
        sys.stderr.write("\r" + " " * self.shown + "\r")
        sys.stderr.flush()


class Watch:
    """Tells `on_trial` of each new trial; where that returns False, the program is stopped."""

    EVERY_S = 0.2

    def __init__(self, reader: Reader, seed: Optional[int], on_trial: Optional[Callable[[Trial], Any]], line: Optional[Line]) -> None:
        self.reader, self.seed, self.on_trial, self.line = reader, seed, on_trial, line
        self.search: Optional[int] = None
        self.last, self.looked = 0, 0.0
        self.before = self._newest() if on_trial or line else 0

    def _newest(self) -> int:
        found = self.reader.query("SELECT max(id) FROM searches")
        return int(found[0][0] or 0) if found else 0

    def _find(self) -> None:
        """Our search: the seed tells it from one of another process. With --resume it is an old one."""
        found = self.reader.query("SELECT id, seed FROM searches WHERE state = 'running' ORDER BY id DESC LIMIT 9")
        ours = [row[0] for row in found if self.seed is None or row[1] == self.seed and row[0] > self.before]
        self.search = ours[0] if ours else None
        if ours and self.seed is None:
            newest = self.reader.query("SELECT max(id) FROM trials WHERE search = ?", (self.search,))
            self.last = int(newest[0][0] or 0) if newest else 0

    def look(self, running: Running, at_once: bool = False) -> None:
        if not (self.on_trial or self.line) or (not at_once and time.monotonic() - self.looked < self.EVERY_S):
            return
        self.looked = time.monotonic()
        if self.search is None:
            self._find()
        for row in self.reader.query(_COLUMNS, (self.search, self.last)) if self.search is not None else ():
            self.last = row[0]
            self._tell(self.reader.trial(row), running)
        if self.line:
            self.line.show()

    def _tell(self, trial: Trial, running: Running) -> None:
        if self.line:
            self.line.add(trial)
        if self.on_trial and not running.stopped and self.on_trial(trial) is False:
            running.stop()


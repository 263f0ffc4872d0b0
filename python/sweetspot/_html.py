# SPDX-License-Identifier: BSD-3-Clause
"""A result in a notebook: a card and a picture that load nothing."""

from __future__ import annotations

import html
import math
from typing import TYPE_CHECKING, Any, List, Mapping, Sequence

if TYPE_CHECKING:
    from ._results import Measurement, Result, Trial

WIDTH, HEIGHT, MARGIN = 420, 120, 8


def config_text(config: Mapping[str, Any]) -> str:
    return " ".join("%s=%s" % each for each in config.items()) or "as it is"


def _row(name: str, found: "Measurement") -> str:
    value = "" if math.isnan(found.median) else "%.4g %s" % (found.median, found.unit)
    cells = (name, config_text(found.config), value)
    return "<tr>%s</tr>" % "".join("<td style='text-align:left'>%s</td>" % html.escape(each) for each in cells)


def svg(trials: Sequence["Trial"], title: str) -> str:
    """The value of each trial in its order, on a logarithmic axis, and the best so far as a line."""
    values = [trial.value for trial in trials if trial.value is not None and trial.value > 0]
    if not values:
        return ""
    low, high = math.log(min(values)), math.log(max(values))
    points: List[str] = []
    best: List[str] = []
    least = math.inf
    for i, value in enumerate(values):
        x = MARGIN + (WIDTH - 2 * MARGIN) * i / max(1, len(values) - 1)
        y = HEIGHT - MARGIN - (HEIGHT - 2 * MARGIN) * ((math.log(value) - low) / (high - low) if high > low else 0.5)
        least = min(least, HEIGHT - y)
        points.append("<circle cx='%.1f' cy='%.1f' r='2.5' fill='#4a7ab5'/>" % (x, y))
        best.append("%.1f,%.1f" % (x, HEIGHT - least))
    line = "<polyline points='%s' fill='none' stroke='#c33' stroke-width='1.5'/>" % " ".join(best)
    return "<svg width='%d' height='%d' role='img'><title>%s: %d trials, %.4g to %.4g</title>%s%s</svg>" % (
        (WIDTH, HEIGHT, html.escape(title), len(values), min(values), max(values), line, "".join(points))
    )


def card(result: "Result") -> str:
    head = "<b>%s</b>: %s, %s" % tuple(html.escape(str(each)) for each in (result.name, result.verdict, result.speedup))
    table = "<table>%s%s</table>" % (_row("best", result.best), _row("baseline", result.baseline))
    notes = "".join("<p><small>%s</small></p>" % html.escape(note) for note in result.notes)
    return "<div>%s%s%s%s</div>" % (head, table, svg(result.trials(), result.name), notes)

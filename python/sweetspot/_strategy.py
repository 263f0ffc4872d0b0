# SPDX-License-Identifier: BSD-3-Clause
"""Search strategies of one's own, as programs that sweetspot(1) starts: a request a line on stdin."""

from __future__ import annotations

import json
import os
import sys
from typing import Any, Dict, List, Optional


class Strategy:
    """A script with a class of this one that ends with `NAME.serve()` is a strategy: sweetspot tune --strategy ./FILE.py

    params, constraints   the values of each parameter; what makes a configuration invalid
    seed, budget          the search's; the number of evaluations to expect, 0 where nobody knows
    """

    def __init__(self, request: Dict[str, Any]) -> None:
        self.params: Dict[str, List[Any]] = {p["name"]: p["values"] for p in request["params"]}
        self.constraints: List[str] = request.get("constraints", [])
        self.seed, self.budget = request["seed"], request["budget"]
        self.begin()

    def begin(self) -> None:
        """Called once, when the attributes are there."""

    def ask(self) -> Optional[Dict[str, Any]]:
        """The configuration to measure next; None for a random one. What was measured is told again, at no cost."""
        return None

    def tell(self, config: Dict[str, Any], value: Optional[float]) -> None:
        """The value, of which less is better; None for what fails, is cut short because it is slow, or is not valid."""

    @classmethod
    def serve(cls) -> None:
        """Answers until stdin ends. What the class prints goes to stderr."""
        answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
        os.dup2(2, 1)
        strategy: Optional[Strategy] = None
        for line in sys.stdin:
            request = json.loads(line)
            if request["op"] == "begin":
                strategy = cls(request)
            elif strategy and request["op"] == "tell":
                strategy.tell(request["config"], request["value"] if request["result"] == "value" else None)
            elif strategy and request["op"] == "ask":
                print(json.dumps({"config": strategy.ask()}), file=answers, flush=True)

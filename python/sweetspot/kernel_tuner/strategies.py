# SPDX-License-Identifier: BSD-3-Clause
"""The strategies by their names, and what a strategy of one's own needs."""

from ._search import STRATEGIES, OptAlgWrapper, Searchspace, StopCriterionReached

for _name in STRATEGIES:
    globals()[_name] = _name
__all__ = ["OptAlgWrapper", "Searchspace", "StopCriterionReached", *STRATEGIES]

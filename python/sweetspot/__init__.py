# SPDX-License-Identifier: BSD-3-Clause
"""Python interface of the Sweetspot autotuner.

    import sweetspot
    result = sweetspot.tune(["./app", "--block", "{B}"], {"B": [16, 32, 64, 128]}, budget="30s")
    print(result.verdict, result.speedup, result.best.config)

The program `sweetspot` does the work; it must be in PATH, or named by SWEETSPOT. The package needs nothing but Python's
standard library. NumPy and pandas are used where the caller brings their objects or asks for data frames.
"""

from ._autotune import autotune
from ._command import CallableError, SweetspotError
from ._inside import Context, context
from ._kernel_tuner import Specification, from_kernel_tuner
from ._profile import Match, Profile, lookup, tuned
from ._results import Checked, Comparison, Measurement, Picture, Ratio, Replay, Result, Trial
from ._strategy import Strategy
from ._study import Study, StudyTrial
from ._tune import compare, replay, tune, tune_async

__version__ = "1.0.0"
__all__ = [
    "CallableError",
    "Checked",
    "Comparison",
    "Context",
    "Match",
    "Measurement",
    "Picture",
    "Profile",
    "Ratio",
    "Replay",
    "Result",
    "Specification",
    "Strategy",
    "Study",
    "StudyTrial",
    "SweetspotError",
    "Trial",
    "autotune",
    "compare",
    "context",
    "from_kernel_tuner",
    "lookup",
    "replay",
    "tune",
    "tune_async",
    "tuned",
]

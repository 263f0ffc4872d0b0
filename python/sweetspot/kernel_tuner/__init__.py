# SPDX-License-Identifier: BSD-3-Clause
"""Kernel Tuner's interface: `import sweetspot.kernel_tuner as kernel_tuner` is the one line to change.

Kernel Tuner: B. van Werkhoven, Kernel Tuner: A search-optimizing GPU code auto-tuner, Future Generation Computer Systems
90, 2019. This is an implementation of its own; doc/from-kernel-tuner.md says what differs.
"""

import sys as _sys

from . import accuracy, file_utils, kernelbuilder, observers, strategies, util, wrappers
from .utils import directives
from ._files import ErrorConfig, store_metadata_file, store_output_file
from ._interface import run_kernel, tune_kernel
from .kernelbuilder import PythonKernel

__all__ = [
    "ErrorConfig",
    "PythonKernel",
    "accuracy",
    "directives",
    "file_utils",
    "kernelbuilder",
    "observers",
    "run_kernel",
    "store_metadata_file",
    "store_output_file",
    "strategies",
    "tune_kernel",
    "util",
    "wrappers",
]

# Kernel Tuner has a module for each kind of observer: `from .observers.nvml import NVMLObserver` finds ours.
setattr(observers, "__path__", [])
for _name in ("observer", "nvml", "ncu", "register", "pmt", "powersensor", "tegra", "hip", "pycuda", "cupy", "nvcuda"):
    _sys.modules["%s.observers.%s" % (__name__, _name)] = observers
_sys.modules[__name__ + ".nvml"] = observers

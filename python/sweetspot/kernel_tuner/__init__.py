# SPDX-License-Identifier: BSD-3-Clause
"""Kernel Tuner's interface: `import sweetspot.kernel_tuner as kernel_tuner` is the one line to change.

Kernel Tuner: B. van Werkhoven, Kernel Tuner: A search-optimizing GPU code auto-tuner, Future Generation Computer Systems
90, 2019. This is an implementation of its own; doc/from-kernel-tuner.md says what differs.
"""

from . import accuracy, file_utils, kernelbuilder, observers, strategies
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
]

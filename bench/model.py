# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of searches: a fit, and a proposal at 500 observations in a space of 10^4 configurations. With the CBLAS that
was built in, and with GSL's own in its place where that is another one."""
import ctypes.util
import os
import subprocess

from common import BUILD, figure, finish


def rows_of(suffix, preload):
    """A library that is loaded first has its symbols taken."""
    environment = dict(os.environ, **({"LD_PRELOAD": preload} if preload else {}))
    program = os.path.join(BUILD, "bench", ".libs", "model_api") if preload else os.path.join(BUILD, "bench", "model_api")
    program = program if os.path.exists(program) else os.path.join(BUILD, "bench", "model_api")
    done = subprocess.run([program], env=environment, capture_output=True, text=True, check=True)
    rows = []
    for line in done.stdout.splitlines():
        name, value, unit, limit = line.split("\t")
        ok = bool(suffix) or float(value) <= float(limit)
        rows.append(figure(name + suffix, float(value), unit, "-" if suffix else f"<= {limit}", ok))
    return rows


def uses_openblas():
    with open(os.path.join(BUILD, "Makefile")) as makefile:
        return any(line.startswith("GSL_LIBS") and "openblas" in line for line in makefile)


rows = rows_of("", None)
reference = ctypes.util.find_library("gslcblas")
if reference and uses_openblas():
    rows += rows_of(" (GSL's CBLAS)", reference)
finish(rows)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The model of searches: a fit, and a proposal at 500 observations in a space of 10^4 configurations. With the CBLAS that
was built in, and with GSL's own in its place where that is another one."""
import os
import resource
import subprocess

from common import BUILD, figure, finish


def rows_of(suffix, space):
    """Under a limit of address space OpenBLAS is not loaded (tuner/model/gp/blas.c)."""
    limit = (lambda: resource.setrlimit(resource.RLIMIT_AS, (space, space))) if space else None
    program = os.path.join(BUILD, "bench", "model_api")
    done = subprocess.run([program], capture_output=True, text=True, check=True, preexec_fn=limit)
    rows = []
    for line in done.stdout.splitlines():
        name, value, unit, limit = line.split("\t")
        ok = bool(suffix) or float(value) <= float(limit)
        rows.append(figure(name + suffix, float(value), unit, "-" if suffix else f"<= {limit}", ok))
    return rows


def uses_openblas():
    with open(os.path.join(BUILD, "config.h")) as config:
        return any(line.startswith("#define SS_OPENBLAS ") for line in config)


rows = rows_of("", None)
if uses_openblas():
    rows += rows_of(" (GSL's CBLAS)", 3 << 30)
finish(rows)

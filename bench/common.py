# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks share: calling the program, and one row a figure."""
import glob
import json
import os
import random
import resource
import statistics
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILDDIR", "build")
PROGRAM = os.path.join(BUILD, "sweetspot")
WORKER = os.path.join(BUILD, "sweetspot-worker")
FOLDER = tempfile.TemporaryDirectory(prefix="sweetspot-bench-")
BOUNDS = {"5 %": 1.05, "1 %": 1.01}
BOOTSTRAPS = 2000
ENVIRONMENT = dict(os.environ, XDG_DATA_HOME=FOLDER.name, NO_COLOR="1", SWEETSPOT_WORKER=WORKER)


def call(*words, check=True):
    """Runs the program with --json; returns the parsed document. `run` measures nothing else beside it."""
    alone = ["--alone"] if words[0] == "run" else []
    done = subprocess.run([PROGRAM, words[0], "--json", *alone, *words[1:]], env=ENVIRONMENT, capture_output=True, text=True)
    if check and done.returncode:
        sys.exit(f"sweetspot {' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def figure(name, value, unit, wanted, ok):
    """One measured figure beside what it should be."""
    row = {"name": name, "value": value, "unit": unit, "wanted": wanted, "ok": bool(ok)}
    print(f"{'ok  ' if ok else 'MISS'} {name:58} {value:>10.4g} {unit:8} wanted {wanted}", file=sys.stderr, flush=True)
    return row


def cpu_seconds(*words):
    """Of the program's own work, which others on the machine don't make longer."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([PROGRAM, *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def median(values):
    return statistics.median(values)


def recorded_spaces(folder):
    """One file for each kernel and device, without T4 results and counters."""
    return [path for path in sorted(glob.glob(os.path.join(folder, "*.json.gz")))
            if "_T4" not in path and ".counters" not in path]


def arrival(values, bound, budget):
    """After how many evaluations a search has come down to `bound`; twice the budget if it never has. A failure is None."""
    return next((i + 1 for i, value in enumerate(values) if value and value <= bound), 2 * budget)


def interval(groups):
    """95 % of the mean over the groups of the mean of each, by bootstraps within the groups."""
    draw = random.Random(1)
    means = sorted(statistics.fmean(statistics.fmean(draw.choices(group, k=len(group))) for group in groups)
                   for _ in range(BOOTSTRAPS))
    return means[BOOTSTRAPS // 40], means[-BOOTSTRAPS // 40 - 1]


def finish(rows):
    json.dump(rows, sys.stdout, indent=1)
    print()

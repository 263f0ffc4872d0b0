# SPDX-License-Identifier: GPL-3.0-or-later
"""What the benchmarks share: calling the program, and one row a figure."""
import json
import os
import statistics
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILDDIR", "build")
PROGRAM = os.path.join(BUILD, "sweetspot")
WORKER = os.path.join(BUILD, "sweetspot-worker")
FOLDER = tempfile.TemporaryDirectory(prefix="sweetspot-bench-")
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


def median(values):
    return statistics.median(values)


def finish(rows):
    json.dump(rows, sys.stdout, indent=1)
    print()

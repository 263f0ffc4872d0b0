# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program pays for its profile: opening it once, and each look-up, in profiles that are made here: of one kernel with
one problem, of one with ranges of sizes, and of 100 kernels with 16 problems each."""
import json
import os
import subprocess

from common import BUILD, FOLDER, figure, finish

LOOKUP_NS = 1000


def entry(kernel, n):
    return {"kernel": kernel, "objective": "time", "unit": "s", "problem": {"n": n, "graph": "dense"}, "median": 1.5,
            "config": {"threads": 2, "schedule": "static", "variant": "tiled", "block": 64},
            "environment": {"OMP_NUM_THREADS": "2", "OMP_SCHEDULE": "static"}, "state": "current"}


def ranges(kernel, count):
    edges = [16 * 2 ** (12 * i / count) for i in range(count + 1)]
    thresholds = [{"from": a, "to": b, "config": {"block": 8 * i}, "environment": {}}
                  for i, (a, b) in enumerate(zip(edges, edges[1:]))]
    law = {"pieces": [{"from": 16, "to": 65536, "overhead": 1e-6, "factor": 1e-9, "exponent": 3}]}
    return {"kernel": kernel, "over": "n", "objective": "time", "unit": "s", "problem": {"graph": "dense"},
            "thresholds": thresholds, "laws": [law]}


def profile(entries, sizes):
    return {"schema": "sweetspot-profile/1", "generator": "bench", "created": "2025-01-01T00:00:00Z",
            "machine": {"fingerprint": "sha256:1", "threads": os.cpu_count()}, "entries": entries, "sizes": sizes}


cases = {
    "1 problem": profile([entry("fw", 1024)], []),
    "16 ranges of a size": profile([entry("fw", 1024)], [ranges("fw", 16)]),
    "100 kernels, 16 problems each": profile(
        [entry(kernel, 2 ** i) for kernel in ["fw", *(f"kernel{k}" for k in range(99))] for i in range(4, 20)], []),
}
rows = []
for name, document in cases.items():
    path = os.path.join(FOLDER.name, "profile-bench.json")
    with open(path, "w") as out:
        json.dump(document, out)
    done = subprocess.run([os.path.join(BUILD, "bench", "lib_api"), path, "fw"], capture_output=True, text=True, check=True)
    took = dict(line.split() for line in done.stdout.splitlines())
    rows.append(figure(f"look-up, {name}", float(took["lookup"]), "ns", f"< {LOOKUP_NS}", float(took["lookup"]) < LOOKUP_NS))
    rows.append(figure(f"open, {name}", float(took["open"]) / 1e6, "ms", "-", True))
finish(rows)

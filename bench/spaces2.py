# SPDX-License-Identifier: GPL-3.0-or-later
"""How many evaluations do searches need on recorded spaces of any kind, beside random and local search, and how bad is bad luck?

$SWEETSPOT_SPACES2 is a folder of recorded spaces, NAME.json.gz; $SPACES of them (all), $STRATEGIES (auto random ils), $REPEAT seeds
from $SEED (20 from 1000), $BUDGET evaluations (200). With $BEFORE, another build of the program, `auto` is compared with its `auto`,
seed by seed. A search that never arrives counts as twice the budget."""
import glob
import json
import math
import os
import statistics
import subprocess
import sys

from common import BOUNDS, ENVIRONMENT, PROGRAM, arrival, figure, finish, interval

FOLDER = os.environ.get("SWEETSPOT_SPACES2", "")
REPEAT, SEED, BUDGET = (int(os.environ.get(name, usual)) for name, usual in (("REPEAT", 20), ("SEED", 1000), ("BUDGET", 200)))
STRATEGIES = os.environ.get("STRATEGIES", "auto random ils").split()
BEFORE = os.environ.get("BEFORE")
rows = []


def arrivals(space, strategy, program=PROGRAM):
    """Of each seed the evaluations to each bound; None where the file is not a space."""
    done = subprocess.run(["nice", program, "replay", space, "--strategy", strategy, "--budget", f"{BUDGET}e", "--json", "--jobs", "1",
                           "--repeat", str(REPEAT), "--seed", str(SEED)], env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode:
        print(f"     {done.stderr.strip()}", file=sys.stderr)
        return None
    found = json.loads(done.stdout)
    best = found["space"]["optimum"]
    runs = [[step["value"] for step in run["evaluations"]] for run in found["runs"]]
    return {bound: [arrival(run, best * share, BUDGET) for run in runs] for bound, share in BOUNDS.items()}


def tail(counts):
    """The 90th percentile over the median."""
    return sorted(counts)[math.ceil(.9 * len(counts)) - 1] / statistics.median(counts)


def change(name, before, after):
    """How many times the evaluations a search needs that needed `before`; groups of paired seeds."""
    logs = [[math.log(b / a) for a, b in zip(x, y)] for x, y in zip(before, after)]
    ratio, (low, high) = (math.exp(statistics.fmean(map(statistics.fmean, logs))), map(math.exp, interval(logs)))
    rows.append(figure(name, ratio, "x", f"[{low:.2f}, {high:.2f}]", low <= 1))


def measure(space):
    name = os.path.basename(space).split(".json")[0]
    found = {strategy: arrivals(space, strategy) for strategy in STRATEGIES}
    if None in found.values():
        return None
    for strategy, counts in found.items():
        to = [f"{statistics.geometric_mean(counts[bound]):.1f}" for bound in BOUNDS]
        others = [statistics.geometric_mean(found[other]["5 %"]) for other in STRATEGIES if other != strategy]
        mean = statistics.geometric_mean(counts["5 %"])
        rows.append(figure(f"{name}, {strategy}: evaluations to 5 %", mean, "evals",
                           f"to 1 % {to[1]}, q90 / median {tail(counts['5 %']):.2f}",
                           strategy != "auto" or mean <= 1.1 * min(others, default=mean)))
    if BEFORE:
        found["before"] = arrivals(space, "auto", BEFORE)
        for bound in BOUNDS:
            change(f"{name}: auto over before, to {bound}", [found["before"][bound]], [found["auto"][bound]])
    return found


if os.path.isdir(FOLDER):
    wanted = os.environ.get("SPACES", "").split()
    files = [os.path.join(FOLDER, f"{name}.json.gz") for name in wanted] or sorted(glob.glob(os.path.join(FOLDER, "*.json.gz")))
    every = [found for found in map(measure, files) if found]
    for bound in BOUNDS if every else ():
        for strategy in STRATEGIES:
            means = [statistics.geometric_mean(found[strategy][bound]) for found in every]
            rows.append(figure(f"{len(every)} spaces, {strategy}: evaluations to {bound}", statistics.geometric_mean(means), "evals", "-", True))
        if BEFORE:
            change(f"{len(every)} spaces: auto over before, to {bound}", *([f[key][bound] for f in every] for key in ("before", "auto")))
else:
    print("     $SWEETSPOT_SPACES2 is not a folder, so there are no recorded spaces to search", file=sys.stderr)
finish(rows)

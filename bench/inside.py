# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program pays for its choices: the time of a choice with its report, and the regret over calls, in parts of the time at the
optimum, and the calls until it stays there, beside a tuner that tries 30 configurations at random and keeps the best, and
simulated annealing as APEX describes it."""
import os
import statistics
import subprocess

from common import BUILD, figure, finish

CALLS = (100, 200, 300, 1000, 2000)
LIMITS = {"alone": 50, "known": 100, "learned": 300}

out = subprocess.run([os.path.join(BUILD, "bench", "inside_api")], capture_output=True, text=True, check=True).stdout
rows, regret = [], {"auto": [], "random": [], "annealing": []}
for line in out.splitlines():
    name, *numbers = line.split()
    if name in LIMITS:
        rows.append(figure(f"a choice, {name}", float(numbers[0]), "ns", f"< {LIMITS[name]}", float(numbers[0]) < LIMITS[name]))
    else:
        regret[name].append([float(number) for number in numbers])
for i, calls in enumerate(CALLS):
    for name, runs in regret.items():
        rows.append(figure(f"regret in {calls} calls, {name}", statistics.median(run[i] for run in runs), "", "-", True))
ours, theirs = (statistics.median(run[-1] for run in regret[name]) for name in ("auto", "annealing"))
for name, runs in regret.items():
    rows.append(figure(f"calls to the optimum, {name}", statistics.median(run[-1] for run in runs), "", "-", True))
rows.append(figure("calls to the optimum, beside annealing", ours / theirs, "x", "< 0.33", ours < theirs / 3))
finish(rows)

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a program pays for its choices: the time of a choice with its report, and the regret over calls, in parts of the time at the
optimum, beside a tuner that tries 30 configurations at random and keeps the best."""
import os
import statistics
import subprocess

from common import BUILD, figure, finish

CALLS = (100, 200, 300, 1000, 2000)
LIMITS = {"alone": 50, "known": 100, "learned": 300}

out = subprocess.run([os.path.join(BUILD, "bench", "inside_api")], capture_output=True, text=True, check=True).stdout
rows, regret = [], {"auto": [], "random": []}
for line in out.splitlines():
    name, *numbers = line.split()
    if name in LIMITS:
        rows.append(figure(f"a choice, {name}", float(numbers[0]), "ns", f"< {LIMITS[name]}", float(numbers[0]) < LIMITS[name]))
    else:
        regret[name].append([float(number) for number in numbers])
for i, calls in enumerate(CALLS):
    ours, random = (statistics.median(run[i] for run in regret[name]) for name in ("auto", "random"))
    rows.append(figure(f"regret in {calls} calls, auto", ours, "", "-", True))
    rows.append(figure(f"regret in {calls} calls, random", random, "", "-", True))
finish(rows)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Our locks beside those of Concurrency Kit in the same loop: the median and the least of the times' ratios. Nothing where
it is not installed. Of queues only rounds count in which the lock went to and fro: a thread that is off its CPU and not in
the queue leaves the other alone, which is fast."""
import os
import subprocess
import sys

from common import BUILD, figure, finish, median

ROUNDS, N = 301, 20000
FAIR = ("ticket", "array", "clh", "mcs")

rows = []
for threads in range(1, min(2, len(os.sched_getaffinity(0))) + 1):
    done = subprocess.run([os.path.join(BUILD, "bench", "locks_ck"), str(threads), str(ROUNDS), str(N)],
                          env=dict(os.environ, OMP_PROC_BIND="true"), capture_output=True, text=True, check=True)
    pairs = {}
    for line in done.stdout.splitlines():
        ours, theirs, *numbers = line.split()
        *ns, our_share, their_share = map(float, numbers)
        rounds = pairs.setdefault((ours, theirs), [])
        if ours not in FAIR or threads == 1 or min(our_share, their_share) > 0.9:
            rounds.append(ns)
    for (ours, theirs), rounds in pairs.items():
        if len(rounds) < ROUNDS / 10:
            rows.append(figure(f"{ours} / {theirs}, rounds in turn", len(rounds), "", f">= {ROUNDS / 10:.0f}", False))
            continue
        least = [min(column) for column in zip(*rounds)]
        ratio = median([a / b for a, b in rounds])
        wanted = "<= 1.1" if ours in FAIR else "-"
        name = f"{ours} / {theirs}, {threads} thread(s)"
        rows.append(figure(name + ", median", ratio, "", wanted, ours not in FAIR or ratio <= 1.1))
        rows.append(figure(name + ", of the least", least[0] / least[1], "", wanted,
                           ours not in FAIR or least[0] <= 1.1 * least[1]))
        rows.append(figure(f"  {ours}, least", least[0], "ns", "-", True))
        rows.append(figure(f"  {theirs}, least", least[1], "ns", "-", True))
if not rows:
    print("Concurrency Kit is not installed", file=sys.stderr)
finish(rows)

# SPDX-License-Identifier: GPL-3.0-or-later
"""How often `compare` is right: a configuration against itself, and against one with 3 % more work."""
import os

from common import call, figure, finish, median

RUNS = int(os.environ.get("RUNS", "100"))
rows = []
for name, other, right in (("A/A called a tie", "extra=0", "tie"), ("3 % more work called slower", "extra=3", "slower")):
    pairs, correct = [], 0
    for seed in range(RUNS):
        said = call("compare", "synthetic", "threads=1", "--seed", str(seed), other, "extra=0")
        correct += said["verdict"] == right
        pairs.append(said["pairs"])
    rows.append(figure(f"{name}, of {RUNS}", correct, "runs", f">= {0.95 * RUNS:g}", correct >= 0.95 * RUNS))
    rows.append(figure(f"{name}: pairs needed, median", median(pairs), "pairs", ">= 21", median(pairs) >= 21))
finish(rows)

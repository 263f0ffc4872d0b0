# SPDX-License-Identifier: GPL-3.0-or-later
"""What does a search of noisy values choose? Recorded spaces are searched with noise added to each value, and what is
chosen is judged by the recorded values: by the least value of all evaluations, and with repeats of the leaders in the
last tenth of the same budget. The first comes from runs of a longer budget, which repeat nothing before.

$SWEETSPOT_SPACES is a folder of recorded spaces, KERNEL.DEVICE.json.gz. $REPEAT paired seeds (60) from $SEED (1000),
$NOISE (5 10 20) in percent. Intervals are from 2000 bootstraps over the pairs, of the mean over the spaces. $STRATEGY:
auto."""
import math
import os
import statistics
import sys

from common import call, figure, finish, interval, recorded_spaces

SPACES = os.environ.get("SWEETSPOT_SPACES", "")
REPEAT, SEED = int(os.environ.get("REPEAT", "60")), int(os.environ.get("SEED", "1000"))
STRATEGY = os.environ.get("STRATEGY", "auto")
NOISES = os.environ.get("NOISE", "5 10 20").split()
BUDGETS, SEARCHED = (50, 100), .9
rows = []


def play(space, noise, budget):
    return call("replay", space, "--strategy", STRATEGY, "--repeat", str(REPEAT), "--seed", str(SEED), "--budget",
                f"{budget}e", "--noise", f"{noise}%")


def ratios(space, noise, budget):
    """Of each seed, the optimum over: the best evaluated, the least value, what the repeats choose."""
    plain, repeated = play(space, noise, math.ceil(budget / SEARCHED)), play(space, noise, budget)
    optimum, found = plain["space"]["optimum"], []
    for run, with_repeats in zip(plain["runs"], repeated["runs"]):
        steps = [step for step in run["evaluations"][:budget] if step["value"]]
        least = min(steps, key=lambda step: step["measured"])["value"]
        found.append([optimum / value for value in (steps[-1]["best"], least, with_repeats["chosen"]["value"])])
    return found


def measure(files, noise, budget):
    spaces = [ratios(file, noise, budget) for file in files]
    evaluated, least, chosen = (statistics.fmean(statistics.fmean(run[i] for run in runs) for runs in spaces)
                                for i in range(3))
    low, high = interval([[run[2] - run[1] for run in runs] for runs in spaces])
    title = f"noise {noise} %, {budget} evaluations of {len(files)} spaces"
    rows.append(figure(f"{title}: chosen", chosen, "", f">= {least:.4f} (least value), best evaluated {evaluated:.4f}",
                       chosen >= least))
    rows.append(figure(f"{title}: gain by repeats", chosen - least, "", f"> 0, 95 % {low:.4f} to {high:.4f}", low > 0))
    for file, runs in zip(files, spaces):
        means = [statistics.fmean(run[i] for run in runs) for i in range(3)]
        print("     {}: evaluated {:.3f}, least {:.3f}, chosen {:.3f}".format(os.path.basename(file), *means),
              file=sys.stderr, flush=True)


if os.path.isdir(SPACES):
    found = recorded_spaces(SPACES)
    for percent in NOISES:
        for evaluations in BUDGETS:
            measure(found, percent, evaluations)
else:
    print("     $SWEETSPOT_SPACES is not a folder, so there are no recorded spaces to search", file=sys.stderr)
finish(rows)

# SPDX-License-Identifier: GPL-3.0-or-later
"""Does a tune of 10 % of the evaluations come within 2 % of the best that all of them find?

Of each kernel a space is taken that can be measured whole, at two sizes. The grid's own minimum is the smallest of many
noisy medians, so what each seed found is not held against that number: the two configurations meet in a duel.
$KERNELS of those below; $SEEDS tunes each (10); $SIZE in the place of both sizes."""
import os
import sys

from common import FOLDER, call, figure, finish, median

SEEDS = int(os.environ.get("SEEDS", "10"))
WITHIN = 1.02
CORES = len(os.sched_getaffinity(0))
TEAMS = ",".join(str(n) for n in sorted({1, max(1, CORES // 4), CORES}))
CONTENDERS = ",".join(str(n) for n in (2, 4, 8, 16, 32, 64, 128) if n <= max(2, CORES))
PLACES = ["proc_bind=false,close,spread", "places=cores"]
LOOPS = [f"threads={TEAMS}", *PLACES, "schedule=static,dynamic"]
# Two sizes, and ranges that leave a few hundred configurations.
CASES = {
    "gol": (("n=256", "n=512"), [*LOOPS, "chunk=1,16", "depth=4,16", "block=512,8192", "span=64,256"]),
    "fw": (("n=128", "n=256"), [*LOOPS, "chunk=1,4", "block=16,32,64,128"]),
    "kmeans": (("n=2000,loops=4", "n=8000,loops=4"), [*LOOPS, "chunk=4,64", "sync=atomic,mutex,spin,ticket", "pad=none,line"]),
    "locks": (("n=10000", "n=4000,critical=200,noncritical=1000"), [f"threads={CONTENDERS}", *PLACES]),
}
rows = []


def words(config):
    return " ".join(f"{name}={value}" for name, value in config.items())


def tune(kernel, size, *more):
    """In a store of its own: nothing is known before."""
    ranges = [word for text in CASES.get(kernel, ((), []))[1] for word in ("--range", text)]
    store = os.path.join(FOLDER.name, f"{len(os.listdir(FOLDER.name))}.db")
    done = call("tune", kernel, "--size", size, *ranges, "--counters", "none", "--no-transfer", "--store", store, *more)
    return done["results"][0]


def measure(kernel, size):
    grid = tune(kernel, size, "--strategy", "grid", "--complete", "--budget", "1000000e", "--seed", "1")
    best, valid, title = grid["best"]["config"], grid["space"]["valid"], f"{kernel} {size}"
    budget, ratios, spent = max(1, valid // 10), [], []
    rows.append(figure(f"{title}: exhaustive speedup over the baseline", grid["speedup"]["ratio"], "x", "> 1",
                       grid["speedup"]["ratio"] > 1))
    for seed in range(1, SEEDS + 1):
        found = tune(kernel, size, "--budget", f"{budget}e", "--seed", str(seed))
        duel = call("compare", kernel, *size.split(","), words(found["best"]["config"]), words(best))
        ratios.append(duel["ratio"])
        spent.append(found["evaluations"])
        print(f"     {title} seed {seed}: {ratios[-1]:.3f} {words(found['best']['config'])}", file=sys.stderr, flush=True)
    hits = sum(ratio <= WITHIN for ratio in ratios)
    rows.append(figure(f"{title}: seeds within 2 % of exhaustive ({valid} valid)", hits, f"of {SEEDS}", f">= {0.9 * SEEDS:g}",
                       hits >= 0.9 * SEEDS))
    rows.append(figure(f"{title}: time of the found over exhaustive, median", median(ratios), "x", f"<= {WITHIN}",
                       median(ratios) <= WITHIN))
    rows.append(figure(f"{title}: evaluations, most", max(spent), "trials", f"<= {budget}", max(spent) <= budget))


for name in os.environ.get("KERNELS", " ".join(CASES)).split():
    for problem in [os.environ["SIZE"]] if "SIZE" in os.environ else CASES[name][0]:
        measure(name, problem)
finish(rows)

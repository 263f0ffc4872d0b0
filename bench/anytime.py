# SPDX-License-Identifier: GPL-3.0-or-later
"""How near to the best do searches come that have only seconds, and do they use what they are given?

  anytime.py              kernels of the suite, with sizes for two processors or for many ($WIDE=1)
  anytime.py programs     programs whose runs take a second: how much of the budget is used, or is everything tried?

$SEEDS searches each (5) of $SECONDS (15), $KERNELS of the suite. The best known is that of a search of $LONG seconds (300), or what one of
the short ones found. It meets the outcome of each search in pairs, so that neither is the minimum of a search."""
import json
import os
import subprocess
import sys
import tempfile

from common import ENVIRONMENT, FOLDER, PROGRAM, call, figure, finish, median

SEEDS = int(os.environ.get("SEEDS", "5"))
SECONDS = int(os.environ.get("SECONDS", "15"))
LONG = int(os.environ.get("LONG", "300"))
MEDIAN, WORST = 1.2, 1.5
SMALL = {"fw": ["n=1024"], "lists": ["n=1024", "ops=200000"], "kmeans": ["size=8"], "locks": ["n=200000"], "gol": ["n=2048"],
         "quake": ["n=512"]}
LARGE = {**SMALL, "fw": ["n=2048"], "kmeans": ["size=64"], "gol": ["n=4096"], "quake": ["n=2048"]}
# the seconds of a run; {X} has 25 values
PROGRAMS = {"all alike": "1", "one is better": "$([ {X} = 23 ] && echo .7 || echo 1)", "each is worse": "$([ {X} = 0 ] && echo 1 || echo 1.5)"}


def tune(seed, seconds, *words):
    """The result of one search, with a store of its own, so that none learns from another."""
    with tempfile.TemporaryDirectory(dir=FOLDER.name) as home:
        found = call("tune", "--quiet", "--no-transfer", "--budget", f"{seconds}s", "--seed", str(seed), "--store", home + "/store.db",
                     *words, check=False)
    return found["results"][0]


def words(config):
    return " ".join(f"{name}={value}" for name, value in config.items())


def ratio(kernel, sizes, ours, best):
    """The time of a configuration over that of the best known."""
    if ours == best:
        return 1.0
    done = subprocess.run([PROGRAM, "compare", "--json", kernel, *sizes, words(ours), words(best)], env=ENVIRONMENT, capture_output=True,
                          text=True)
    return json.loads(done.stdout)["ratio"]


def kernel(rows, name, problem):
    sizes = [word for size in problem for word in ("--size", size)]
    runs = [tune(seed, SECONDS, name, *sizes) for seed in range(1, SEEDS + 1)]
    long = tune(1, LONG, name, *sizes)
    best = min([long, *runs], key=lambda run: run["best"]["median"])["best"]["config"]
    ratios = sorted(ratio(name, sizes, run["best"]["config"], best) for run in runs)
    proven = sum(run["proven"] for run in runs)
    print(f"     {name}: {' '.join(f'{x:.2f}' for x in ratios)}; best known: {words(best)}", file=sys.stderr)
    rows.append(figure(f"{name} {' '.join(problem)} in {SECONDS} s: median to the best known", median(ratios), "times", f"<= {MEDIAN}",
                       median(ratios) <= MEDIAN))
    rows.append(figure(f"{name}: worst of {SEEDS} seeds", ratios[-1], "times", f"<= {WORST}", ratios[-1] <= WORST))
    rows.append(figure(f"{name}: proven", proven, f"of {SEEDS}", f"{SEEDS}", proven == SEEDS))


def program(rows, name, seconds):
    values = ",".join(map(str, range(25)))
    run = tune(1, 30, "--param", "X=" + values, "--", "sh", "-c", f"sleep {seconds}")
    used = run["elapsed_s"] / 30
    ended = run["stopped"] == "gain" or run["evaluations"] >= run["space"]["valid"]
    rows.append(figure(f"program, {name}: share of 30 s used, or all tried", 1 if ended else used, "", ">= 0.95", ended or used >= 0.95))


def main():
    rows = []
    if sys.argv[1:] == ["programs"]:
        for name, seconds in PROGRAMS.items():
            program(rows, name, seconds)
    elif not sys.argv[1:]:
        suite = LARGE if os.environ.get("WIDE") else SMALL
        for name in os.environ.get("KERNELS", "").split() or suite:
            kernel(rows, name, suite[name])
    else:
        sys.exit(__doc__)
    finish(rows)


main()

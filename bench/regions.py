# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions of an unmodified program: what the wrapper costs, how often the search is right, what it costs, what it gains.

SWEETSPOT=/path/bin/sweetspot takes an installed program or a bundle, without the rest of the tree but this folder. SEEDS=20 and
STEPS=1500 say how much is done, OPENMP_BUDGET=60 how long `tune --openmp` may search for comparison (0: not at all)."""
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
SWEETSPOT = os.environ.get("SWEETSPOT") or os.path.join(os.environ.get("BUILDDIR", "build"), "sweetspot")
SEEDS = int(os.environ.get("SEEDS", "20"))
OPENMP_BUDGET = float(os.environ.get("OPENMP_BUDGET", "60"))
FOLDER = tempfile.TemporaryDirectory(prefix="sweetspot-regions-")
ENVIRONMENT = dict(os.environ, XDG_DATA_HOME=FOLDER.name, NO_COLOR="1", OMP_SCHEDULE="static")
CPUS = len(os.sched_getaffinity(0))
MIX, CALLS = os.path.join(FOLDER.name, "mix"), os.path.join(FOLDER.name, "calls")
FAST = ("dynamic", "guided", "auto")
rows = []


def figure(name, value, unit, wanted, ok):
    rows.append({"name": name, "value": value, "unit": unit, "wanted": wanted, "ok": bool(ok)})
    print(f"{'ok  ' if ok else 'MISS'} {name:64} {value:>10.4g} {unit:8} wanted {wanted}", file=sys.stderr, flush=True)


def output(words, **more):
    done = subprocess.run(words, env=dict(ENVIRONMENT, **more), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def seconds(words, **more):
    start = time.monotonic()
    output(words, **more)
    return time.monotonic() - start


def compile_all():
    for name, path in (("mix", MIX), ("calls", CALLS)):
        output(["gcc", "-O2", "-g", "-fopenmp", os.path.join(HERE, "regions", name + ".c"), "-o", path, "-lm"])


def steps_choose():
    """As many steps as make a run of about two seconds, like a short run of a real program."""
    if "STEPS" in os.environ:
        return os.environ["STEPS"]
    each = min(seconds([MIX, "40"]) for _ in range(3)) / 40
    return str(max(100, min(20000, int(float(os.environ.get("RUN_SECONDS", "2")) / each))))


def calls_cost(library):
    """Nanoseconds that the library adds to a region's call, the least of five differences: neighbours only ever add."""
    differences = []
    for _ in range(5):
        plain, watched = float(output([CALLS])), float(output([CALLS], LD_PRELOAD=library))
        differences.append(watched - plain)
    figure("wrapper of a region that is not tuned", min(differences), "ns", "< 1000", min(differences) < 1000)


def wrong(result):
    """Regions whose setting is not the known answer."""
    found = []
    for region in result["regions"]:
        best, name = region["best"], region["name"]
        if name == "tiny" and best["threads"] != 1:
            found.append(f"tiny: {best}")
        if name in ("scale", "grows") and best["threads"] < 0.7 * CPUS:
            found.append(f"{name}: {best}")
        if name == "triangle" and best.get("schedule") not in FAST and best.get("chunk", 999) > 16:
            found.append(f"triangle: {best}")
    return found


def tune(seed, steps):
    start = time.monotonic()
    words = [SWEETSPOT, "tune", "--regions", "--json", "--seed", str(seed), "--store", f"{FOLDER.name}/{seed}.db", "--", MIX, steps]
    result = json.loads(output(words))["results"][0]
    return result, time.monotonic() - start


def search(steps, own):
    results, right, silent, shares = [], 0, 0, []
    for seed in range(1, SEEDS + 1):
        result, wall = tune(seed, steps)
        bad = wrong(result)
        results.append(result)
        shares.append(wall / own)
        said = result["verdict"] == "undecided" and result.get("busy")
        silent += bool(said)
        right += not bad or bool(said)
        print(f"     seed {seed}: {result['verdict']}, {result['speedup']['ratio']:.3f}x, {result['runs']} runs, {wall / own:.2f} times the "
              f"program, waiting {result.get('waiting') or 0:.3f}{', wrong: ' + '; '.join(bad) if bad else ''}", file=sys.stderr, flush=True)
    figure(f"settings right, of {SEEDS} seeds", right, "seeds", f">= {0.95 * SEEDS:g}", right >= 0.95 * SEEDS)
    figure("of these, too busy to decide", silent, "seeds", "0", silent == 0)
    figure("proven faster", sum(r["verdict"] == "faster" for r in results), "seeds", f">= {0.95 * SEEDS:g}",
           sum(r["verdict"] == "faster" for r in results) >= 0.95 * SEEDS)
    figure("wall time of tuning, in runs of the program, median", statistics.median(shares), "runs", "<= 8",
           statistics.median(shares) <= 8)
    return results


def singles(steps):
    """Seconds with one team for all regions, for each size of the team; the schedule, too, is one for all."""
    teams = sorted({1, 2, 4, 8, 16, 32, 64, CPUS, max(1, CPUS * 3 // 4)} & set(range(1, CPUS + 1)))
    return {(team, schedule): statistics.median(seconds([MIX, steps], OMP_NUM_THREADS=str(team), OMP_SCHEDULE=schedule)
                                                for _ in range(3))
            for team in teams for schedule in ("static", "dynamic,8")}


def compare(steps):
    store = f"{FOLDER.name}/1.db"
    own = [seconds([MIX, steps]) for _ in range(5)]
    applied = [seconds([SWEETSPOT, "apply", "--regions", "--store", store, "--", MIX, steps]) for _ in range(5)]
    one = singles(steps)
    setting = min(one, key=one.get)
    figure("gain of settings by region over the default", statistics.median(own) / statistics.median(applied), "x", "> 1",
           statistics.median(own) > statistics.median(applied))
    gain = one[setting] / statistics.median(applied)
    figure(f"and over the best one for all ({setting[0]} threads, {setting[1]})", gain, "x", ">= 1.15", gain >= 1.15)


def openmp(steps, own):
    """The same with whole runs as evaluations, in a small multiple of the program's time."""
    start = time.monotonic()
    words = [SWEETSPOT, "tune", "--openmp", "--no-regions", "--json", "--budget", f"{OPENMP_BUDGET}s", "--store", f"{FOLDER.name}/openmp.db", "--", MIX,
             steps]
    result = json.loads(output(words))["results"][0]
    ratio = (result.get("speedup") or {}).get("ratio") or 1
    figure(f"gain of tune --openmp ({result['verdict']})", ratio, "x", "any", True)
    figure("wall time of tune --openmp, in runs of the program", (time.monotonic() - start) / own, "runs", "any", True)


def main():
    compile_all()
    steps = steps_choose()
    own = statistics.median(seconds([MIX, steps]) for _ in range(3))
    print(f"     {CPUS} processors, mix {steps}: {own:.2f} s", file=sys.stderr, flush=True)
    results = search(steps, own)
    library = json.loads(output([SWEETSPOT, "export", "--regions", "--format", "json", "--store", f"{FOLDER.name}/1.db", "--", MIX]))["library"]
    calls_cost(library)
    compare(steps)
    if OPENMP_BUDGET > 0:
        openmp(steps, own)
    print(json.dumps(results[0], indent=1), file=sys.stderr)
    json.dump(rows, sys.stdout, indent=1)
    print()


main()

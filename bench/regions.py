# SPDX-License-Identifier: GPL-3.0-or-later
"""Regions of an unmodified program: what the wrapper costs, how often the search is right, what it costs, what it gains.

SWEETSPOT=/path/bin/sweetspot takes an installed program or a bundle; besides it only this file, its folder and gcc are needed.
LIMIT=900 says how many seconds all may take: the number of seeds follows from it (SEEDS=20 at most), and so does the time that
`tune --openmp` may search for comparison. RUN_SECONDS=2 is the length of one run of a program, like a short run of a real one."""
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
LIMIT = float(os.environ.get("LIMIT", "900"))
RUN_SECONDS = float(os.environ.get("RUN_SECONDS", "2"))
FOLDER = tempfile.TemporaryDirectory(prefix="sweetspot-regions-")
ENVIRONMENT = dict(os.environ, XDG_DATA_HOME=FOLDER.name, NO_COLOR="1", OMP_SCHEDULE="static")
CPUS = len(os.sched_getaffinity(0))
FAST = ("dynamic", "guided", "auto")
SCHEDULES = {"mix": ("static", "dynamic,8"), "cycle": ("static",)}
START = time.monotonic()
rows = []
TRIANGLE = {"gains": True}


def say(text):
    print(text, file=sys.stderr, flush=True)


def spent():
    return time.monotonic() - START


def figure(name, value, unit, wanted, ok):
    rows.append({"name": name, "value": value, "unit": unit, "wanted": wanted, "ok": bool(ok)})
    say(f"{'ok  ' if ok else 'MISS'} {name:72} {value:>10.4g} {unit:6} wanted {wanted}")


def output(words, **more):
    done = subprocess.run(words, env=dict(ENVIRONMENT, **more), capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}\n{done.stderr}")
    return done.stdout


def seconds(words, **more):
    start = time.monotonic()
    output(words, **more)
    return time.monotonic() - start


def path(name):
    return os.path.join(FOLDER.name, name)


def compile_all():
    for name in ("mix", "cycle", "calls"):
        output(["gcc", "-O2", "-g", "-fopenmp", os.path.join(HERE, "regions", name + ".c"), "-o", path(name), "-lm"])


def steps_choose(name):
    """As many steps as make a run of about two seconds; a first guess is wrong by the time that a program takes to start."""
    steps = 20
    for _ in range(2):
        each = min(seconds([path(name), str(steps)]) for _ in range(2)) / steps
        steps = max(20, min(50000, int(RUN_SECONDS / each)))
    own = statistics.median(seconds([path(name), str(steps)]) for _ in range(3))
    say(f"     {CPUS} processors, {name} {steps}: {own:.2f} s")
    return str(steps), own


def calls_cost():
    """Nanoseconds that the library adds to a region's call, the least of five differences: neighbours only ever add."""
    library = json.loads(output(apply("export", "mix", "1") + ["--format", "json", "--", path("mix")]))["library"]
    differences = []
    for _ in range(5):
        plain, watched = float(output([path("calls")])), float(output([path("calls")], LD_PRELOAD=library))
        differences.append(watched - plain)
    figure("wrapper of a region that is not tuned", min(differences), "ns", "< 1000", min(differences) < 1000)


def apply(command, name, seed):
    return [SWEETSPOT, command, "--regions", "--store", f"{FOLDER.name}/{name}-{seed}.db"]


def triangle_gains(steps):
    """Whether dynamic wins in the triangle by over a tenth here: a large team leaves so little work to each thread that it may not."""
    words = [path("mix"), steps, "triangle"]
    own = min(seconds(words) for _ in range(3))
    fast = min(seconds(words, OMP_SCHEDULE=schedule) for schedule in ("dynamic,8", "guided") for _ in range(3))
    say(f"     mix: triangle alone: static {own:.3f} s, the faster of dynamic,8 and guided {fast:.3f} s")
    return own > 1.1 * fast


def wrong(name, result):
    """Regions whose setting is not the known answer."""
    found = []
    for region in result["regions"] if name == "mix" else []:
        best, region_name = region["best"], region["name"]
        if region_name == "tiny" and best["threads"] != 1:
            found.append(f"tiny: {best}")
        if region_name in ("scale", "grows") and best["threads"] < 0.7 * CPUS:
            found.append(f"{region_name}: {best}")
        if region_name == "triangle" and TRIANGLE["gains"] and best.get("schedule") not in FAST and best.get("chunk", 999) > 16:
            found.append(f"triangle: {best}")
    return found


def tune(name, seed, steps, own):
    start = time.monotonic()
    result = json.loads(output(apply("tune", name, seed) + ["--json", "--seed", str(seed), "--", path(name), steps]))["results"][0]
    share = (time.monotonic() - start) / own
    bad = wrong(name, result)
    say(f"     {name}, seed {seed}: {result['verdict']}, {result['speedup']['ratio']:.3f}x, {result['runs']} runs, {share:.2f} times the "
        f"program, waiting {result.get('waiting') or 0:.3f}{', wrong: ' + '; '.join(bad) if bad else ''}")
    return result, share, bad


def search(name, steps, own, seeds, until):
    """Seeds as long as there is time for one more."""
    results, shares, right, silent, last = [], [], 0, 0, 0
    for seed in range(1, seeds + 1):
        if results and spent() + last > until:
            break
        before = spent()
        result, share, bad = tune(name, seed, steps, own)
        last = spent() - before
        results.append(result)
        shares.append(share)
        said = result["verdict"] == "undecided" and result.get("busy")
        silent += bool(said)
        right += not bad or bool(said)
    count = len(results)
    faster = sum(r["verdict"] == "faster" for r in results)
    if name == "mix":
        figure(f"mix: settings right, of {count} seeds", right, "seeds", f">= {0.95 * count:g}", right >= 0.95 * count)
        figure(f"mix: proven faster, of {count} seeds", faster, "seeds", f">= {0.95 * count:g}", faster >= 0.95 * count)
    figure(f"{name}: too busy to decide, of {count} seeds", silent, "seeds", "0", silent == 0)
    figure(f"{name}: wall time of tuning, in runs of the program, median", statistics.median(shares), "runs", "<= 8",
           statistics.median(shares) <= 8)
    return results


def teams():
    return sorted({1, 2, 4, 8, 16, 32, 64, CPUS, max(1, CPUS * 3 // 4)} & set(range(1, CPUS + 1)))


def setting(team, schedule):
    return {"OMP_NUM_THREADS": str(team), "OMP_SCHEDULE": schedule}


def singles(name, steps):
    """The best three settings that are one for all regions, by short runs."""
    few = str(max(10, int(steps) // 5))
    short = {(team, schedule): min(seconds([path(name), few], **setting(team, schedule)) for _ in range(2))
             for team in teams() for schedule in SCHEDULES[name]}
    return sorted(short, key=short.get)[:3]


def compare(name, steps, until, results):
    """Whole runs in turn: as it is, by region, and with the best settings that are one for all. Settings that are not proven are not
    applied, so there must be a seed with proven ones."""
    proven = [seed for seed, result in enumerate(results, 1) if result["verdict"] == "faster"]
    if not proven:
        say(f"     {name}: nothing was proven, so that `apply` runs it as it is, and there is nothing to compare")
        return
    words = apply("apply", name, proven[0]) + ["--", path(name), steps]
    best = singles(name, steps)
    times = {key: [] for key in ["own", "regions"] + best}
    while len(times["own"]) < 3 or (len(times["own"]) < 7 and spent() < until):
        times["own"].append(seconds([path(name), steps]))
        times["regions"].append(seconds(words))
        for key in best:
            times[key].append(seconds([path(name), steps], **setting(*key)))
    median = {key: statistics.median(values) for key, values in times.items()}
    first = min(best, key=median.get)
    gain, over = median["own"] / median["regions"], median[first] / median["regions"]
    wanted = name == "mix"
    figure(f"{name}: gain of settings by region over the default", gain, "x", "> 1" if wanted else "any", gain > 1 or not wanted)
    figure(f"{name}: over the best one for all ({first[0]} threads{', ' + first[1] if len(SCHEDULES[name]) > 1 else ''})", over, "x",
           ">= 1.15" if wanted else "any", over >= 1.15 or not wanted)
    say(f"     {name}: default {median['own']:.3f} s, by region {median['regions']:.3f} s, best one for all {median[first]:.3f} s, "
        f"each the median of {len(times['own'])}; proven {results[proven[0] - 1]['speedup']['ratio']:.3f}x")


def openmp(name, steps, own, budget):
    """The same with whole runs as evaluations."""
    start = time.monotonic()
    words = [SWEETSPOT, "tune", "--openmp", "--no-regions", "--json", "--budget", f"{budget:.0f}s", "--store", f"{FOLDER.name}/openmp.db", "--",
             path(name), steps]
    result = json.loads(output(words))["results"][0]
    ratio = (result.get("speedup") or {}).get("ratio") or 1
    figure(f"{name}: gain of tune --openmp ({result['verdict']})", ratio, "x", "any", True)
    figure(f"{name}: wall time of tune --openmp, in runs of the program", (time.monotonic() - start) / own, "runs", "any", True)


def settings_print(name, result):
    for region in result["regions"]:
        best = region["best"]
        say(f"     {name}: {region['name']:24} {100 * region.get('share', 0):5.1f} %  {best['threads']:>4g} threads "
            f"{best.get('schedule') or ''} {best.get('chunk') or ''}".rstrip())


def main():
    compile_all()
    plan = {"mix": (SEEDS, 0.38, 0.55), "cycle": (max(1, SEEDS // 4), 0.68, 0.8)}
    for name, (seeds, searched, compared) in plan.items():
        steps, own = steps_choose(name)
        if name == "mix":
            TRIANGLE["gains"] = triangle_gains(steps)
        results = search(name, steps, own, seeds, searched * LIMIT)
        settings_print(name, results[0])
        if name == "mix":
            calls_cost()
            kept = steps, own
        compare(name, steps, compared * LIMIT, results)
    if LIMIT - spent() > 20:
        openmp("mix", *kept, min(60, 0.6 * (LIMIT - spent())))
    say(f"{sum(row['ok'] for row in rows)} of {len(rows)} as wanted, {spent():.0f} s")
    json.dump(rows, sys.stdout, indent=1)
    print()


main()

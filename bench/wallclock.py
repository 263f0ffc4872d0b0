# SPDX-License-Identifier: GPL-3.0-or-later
"""How long does a search take to come within 5 % and 1 % of the best known, in seconds of wall clock?

  wallclock.py build           a program in C with a choice of 12 compiler flags, one build at a time and as many as processors
  wallclock.py paced           the same, but the program sleeps as long as its flags say, so that no noise of the machine decides
  wallclock.py fair            kernels of public suites on GPUs (bench/fair.py): Kernel Tuner, if it is installed (with CuPy), and this project;
                               what they find is judged as NVRTC and as nvcc compile it. $OUT is continued, where it exists
  wallclock.py table OUT..     the tables of what `fair` has kept in these files

$SEEDS searches each (5) from $FIRST_SEED on, $SECONDS each (60), $KERNELS of `fair`, on $GPUS (0), which share the processors; $TOOLS (one
by one, ahead), $OUT for the figures in JSON, all trials of each search among them. The best known is the smallest time that any of these
searches has measured in its race or duel. A search that never comes near counts as infinite."""
import json
import math
import os
import queue
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime

HERE = os.path.dirname(os.path.abspath(__file__))
FAIR = os.path.join(HERE, "fair.py")

SWEETSPOT = os.environ.get("SWEETSPOT", "sweetspot")
SEEDS = int(os.environ.get("SEEDS", "5"))
FIRST_SEED = int(os.environ.get("FIRST_SEED", "1"))
SECONDS = int(os.environ.get("SECONDS", "60"))
TOOLS = os.environ.get("TOOLS", "").split(",") if os.environ.get("TOOLS") else None
GPUS = os.environ.get("GPUS", "0").split(",")
WITHIN = (1.05, 1.01)

PROGRAM = r"""
#include <stdio.h>
#include <stdlib.h>
enum { N = 400 };
static double a[N][N], b[N][N], c[N][N], d[N][N], x[N], y[N];
static void init(void) {
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++) {
			a[i][j] = (i * j % N) / (double)N;
			b[i][j] = (i * (j + 1) % N) / (double)N;
			x[i] = i;
		}
}
static void two_products(void) {
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				c[i][j] += 1.5 * a[i][k] * b[k][j];
	for (int i = 0; i < N; i++)
		for (int j = 0; j < N; j++)
			for (int k = 0; k < N; k++)
				d[i][j] += c[i][k] * b[j][k];
}
static void atax(void) {
	for (int i = 0; i < N; i++) {
		double sum = 0;
		for (int j = 0; j < N; j++)
			sum += a[i][j] * x[j];
		for (int j = 0; j < N; j++)
			y[j] += a[i][j] * sum;
	}
}
static void jacobi(void) {
	for (int t = 0; t < 40; t++) {
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				d[i][j] = 0.2 * (c[i][j] + c[i][j - 1] + c[i][j + 1] + c[i - 1][j] + c[i + 1][j]);
		for (int i = 1; i < N - 1; i++)
			for (int j = 1; j < N - 1; j++)
				c[i][j] = d[i][j];
	}
}
int main(void) {
	init();
	two_products();
	atax();
	jacobi();
	printf("%.6g\n", c[7][9] + d[3][5] + y[11]);
}
"""
FLAGS = ["-ffast-math", "-funroll-loops", "-ftree-vectorize", "-fno-inline", "-floop-nest-optimize", "-fno-tree-pre",
         "-fprefetch-loop-arrays", "-fno-ivopts", "-floop-interchange", "-fpeel-loops"]

# Effects of flags as compilers have them: most change a few per cent, some only help together, one does harm.
PACED = r"""
#include <time.h>
#ifndef F
#define F 0
#endif
int main(void) {
	double seconds = 0.04 * (LEVEL == 1 ? 1.7 : LEVEL == 2 ? 1.15 : 1) * (NATIVE ? 1 : 1.2);
	const double effects[] = {0.9, 0.96, 0.93, 1.12, 0.98, 1.03, 0.97, 0.99, 0.95, 1.02};
	for (int i = 0; i < 10; i++)
		if (F >> i & 1)
			seconds *= effects[i];
	if ((F & 1) && (F >> 2 & 1) && NATIVE && LEVEL > 1)
		seconds *= 0.5;
	if ((F >> 1 & 1) && (F >> 9 & 1))
		seconds *= 0.9;
	struct timespec pause = {.tv_nsec = (long)(seconds * 1e9)};
	return nanosleep(&pause, 0);
}
"""


def trajectory(store, begun):
    """(seconds since the start, median) of each trial of the search that worked, and the proven median of the best."""
    rows = sqlite3.connect(store).execute(
        "SELECT started, elapsed, value, phase FROM trials WHERE status = 'correct' AND value IS NOT NULL ORDER BY id").fetchall()
    return [(started + elapsed - begun, value) for started, elapsed, value, phase in rows if phase in ("baseline", "search")]


def ours(words, seed, folder, place=None):
    """One search with an empty store and an empty cache; `place` says on which processors and GPU."""
    store, begun = os.path.join(folder, "store.db"), time.time()
    place = place or {"env": os.environ}
    place = {**place, "env": {**place["env"], "XDG_CACHE_HOME": os.path.join(folder, "cache"), "XDG_DATA_HOME": folder,
                             "XDG_RUNTIME_DIR": folder}}  # its own lock: another GPU's search does not wait
    done = subprocess.run([SWEETSPOT, "tune", "--seed", str(seed), "--budget", f"{SECONDS}s", "--counters", "none", "--store", store,
                           "--json", "-q", *words], stdout=subprocess.PIPE, check=False, **place)
    if done.returncode:
        return {"points": [], "best": math.inf, "evaluations": 0}
    result = json.loads(done.stdout)["results"][0]
    return {"points": trajectory(store, begun), "best": result["best"]["median"] or math.inf, "evaluations": result["evaluations"],
            "elapsed": result["elapsed_s"], "seconds": result["seconds"], "builds": result.get("builds"), "config": result["best"]["config"]}


def theirs(spec, seed, folder, place):
    """One search with Kernel Tuner, ended after $SECONDS of its own clock; its cache file has all that it measured."""
    out, cache = os.path.join(folder, "kt.json"), os.path.join(folder, "kt.cache.json")
    place = {**place, "env": {**place["env"], "CUPY_CACHE_DIR": os.path.join(folder, "cupy")}}
    started = time.time()
    process = subprocess.Popen([sys.executable, FAIR, "kernel_tuner", spec, str(seed), str(SECONDS), out], cwd=os.path.dirname(spec),
                               stdout=subprocess.DEVNULL, start_new_session=True, **place)
    for until in (60, SECONDS + 2):  # its start, then its search
        end = time.time() + until
        while process.poll() is None and time.time() < end and not (until == 60 and os.path.exists(out)):
            time.sleep(0.05)
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    if not os.path.exists(cache):
        return {"points": [], "best": math.inf, "evaluations": 0}
    run, text = json.load(open(out)), open(cache).read()
    try:
        tried = json.loads(text)["cache"].values()
    except ValueError:
        tried = json.loads(text.rstrip().rstrip(",") + "}}")["cache"].values()
    right = [t for t in tried if isinstance(t["time"], (int, float))]
    points = [(datetime.fromisoformat(t["timestamp"]).timestamp() - run["begun"], t["time"] / 1e3) for t in right]
    names = [p["Name"] for p in json.load(open(spec))["ConfigurationSpace"]["TuningParameters"]]
    best = min(right, key=lambda t: t["time"], default=None)
    return {"points": points, "best": best["time"] / 1e3 if best else math.inf, "evaluations": len(tried), "strategy": run["strategy"],
            "start": run["begun"] - started, "config": best and {name: best[name] for name in names}}


def seconds_to(run, target, whole=False):
    """whole: from the start of the program, and not from the moment at which the tool's own clock begins."""
    return min((at + whole * run.get("start", 0) for at, value in run["points"] if value <= target), default=math.inf)


def save(rows):
    """Whole or not at all, from any thread."""
    if os.environ.get("OUT"):
        with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(os.path.abspath(os.environ["OUT"])), delete=False) as file:
            json.dump(rows, file, indent=1)
        os.replace(file.name, os.environ["OUT"])


def compare(name, tools, rows):
    """tools: name -> function of a seed and a folder."""
    tools = {tool: search for tool, search in tools.items() if not TOOLS or tool in TOOLS}
    runs = {tool: [] for tool in tools}
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
        for tool, search in tools.items():
            with tempfile.TemporaryDirectory() as folder:
                runs[tool].append(search(seed, folder))
            print(f"# {name} {tool} seed {seed}: {runs[tool][-1]['evaluations']} evaluations, best {runs[tool][-1]['best'] * 1e3:.4g} ms",
                  file=sys.stderr, flush=True)
    best = min(run["best"] for all_of in runs.values() for run in all_of)
    for tool, all_of in runs.items():
        row = {"what": name, "tool": tool, "best_known_s": best, "found_s": statistics.median(run["best"] for run in all_of),
               "evaluations": statistics.median(run["evaluations"] for run in all_of), "runs": all_of}
        for within in WITHIN:
            row[f"to_{within}"] = statistics.median(seconds_to(run, within * best) for run in all_of)
            own = [seconds_to(run, within * min(r["best"] for r in all_of)) for run in all_of]
            row[f"own_{within}"] = statistics.median(own)
        parts = [run["seconds"] for run in all_of if "seconds" in run]
        if parts:
            row["seconds"] = {part: statistics.median(p.get(part, 0) for p in parts) for part in parts[0]}
        rows.append(row)
        print(f"{name:12} {tool:16} to 5 % {row['to_1.05']:7.1f} s  to 1 % {row['to_1.01']:7.1f} s  of its own best {row['own_1.05']:7.1f} s "
              f"{row['own_1.01']:7.1f} s  best {row['found_s'] * 1e3:.4g} ms  {row['evaluations']:g} evaluations", flush=True)
        print("             " + "  ".join(f"{part} {value:.1f}" for part, value in row.get("seconds", {}).items() if value >= 0.05), flush=True)
    save(rows)


def flags_of(paced):
    """The words for the parameters, and the compiler's words with their holes."""
    if paced:
        words = ["--param", "O=1,2,3", "--param", "M=0,1", "--default", "O=2"]
        for i in range(len(FLAGS)):
            words += ["--param", f"F{i}=0,1"]
        return words, "-DLEVEL={O} -DNATIVE={M} -DF='" + "+".join(f"({{F{i}}}<<{i})" for i in range(len(FLAGS))) + "'"
    words = ["--param", "O=-O1,-O2,-O3", "--param", "M=-mtune=generic,-march=native", "--default", "O=-O2"]
    for i, flag in enumerate(FLAGS):
        words += ["--param", f"F{i}=-DF{i},{flag}"]
    return words, "{O} {M} " + " ".join(f"{{F{i}}}" for i in range(len(FLAGS)))


def build(rows, paced):
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        with open("p.c", "w", encoding="utf-8") as file:
            file.write(PACED if paced else PROGRAM)
        params, flags = flags_of(paced)
        line = f"sleep {os.environ.get('BUILD_SECONDS', '2')}; gcc {flags} -o {{BUILD}}/p p.c"
        words = [*params, "--build", line]
        run = ["--", "{BUILD}/p"]
        compare("paced" if paced else "build", {"one by one": lambda seed, home: ours([*words, "--jobs", "1", *run], seed, home),
                                                "ahead": lambda seed, home: ours([*words, *run], seed, home)}, rows)
        os.chdir("/")


FAIR_TOOLS = ("Kernel Tuner", "ours")
LOWERED = {0x4: "power cap", 0x8: "hardware", 0x20: "heat", 0x40: "heat", 0x80: "power brake"}


class Watch:
    """What NVML says of one GPU five times a second: power, clock, and why the clock is lower."""

    def __init__(self, gpu):
        self.process = subprocess.Popen(["nvidia-smi", "-i", gpu, "--query-gpu=power.draw,clocks.sm,clocks_event_reasons.active",
                                         "--format=csv,noheader,nounits", "-lms", "200"], stdout=subprocess.PIPE, text=True)

    def end(self):
        self.process.terminate()
        rows = [line.split(", ") for line in self.process.communicate()[0].splitlines() if line.count(", ") == 2]
        busy = [(float(power), int(clock), int(why, 16)) for power, clock, why in rows if not int(why, 16) & 1]
        if not busy:
            return {}
        return {"power_w": statistics.median(row[0] for row in busy), "most_w": max(row[0] for row in busy),
                "clock_mhz": statistics.median(row[1] for row in busy),
                "lowered": {word: sum(1 for row in busy if any(row[2] & bit for bit, w in LOWERED.items() if w == word)) / len(busy)
                            for word in {w for row in busy for bit, w in LOWERED.items() if row[2] & bit}}}


def fair_kernel(name, folder, gpus, rows):
    """All searches on one GPU, the tools in turns, and the judge."""
    number, gpu = gpus.get()
    cores = sorted(os.sched_getaffinity(0))
    mine = cores[number::len(GPUS)]
    place = {"env": {**os.environ, "CUDA_VISIBLE_DEVICES": gpu}, "preexec_fn": lambda: os.sched_setaffinity(0, mine)}
    spec, row = os.path.join(folder, name + ".json"), next((row for row in rows if row["what"] == name), None)
    if row is None:
        row = {"what": name, "seconds": SECONDS, "card": card(gpu), "processors": len(mine), "runs": {}}
        rows.append(row)
    runs = row["runs"]
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
        for tool in sorted(TOOLS or FAIR_TOOLS, reverse=seed % 2):
            with tempfile.TemporaryDirectory() as home:
                watch = Watch(gpu)
                run = ours(["--spec", spec], seed, home, place) if tool == "ours" else theirs(spec, seed, home, place)
                runs.setdefault(tool, []).append({**run, **watch.end(), "seed": seed})
            print(f"# {name} {tool} seed {seed}: {run['evaluations']} evaluations, best {run['best'] * 1e3:.4g} ms", file=sys.stderr, flush=True)
        save(rows)
    with tempfile.TemporaryDirectory() as home:
        found = [(f"{tool} {i}", run["config"]) for tool in runs for i, run in enumerate(runs[tool]) if run.get("config")]
        json.dump(found, open(os.path.join(home, "found"), "w"))
        judged = os.path.join(home, "judged")
        subprocess.run([sys.executable, FAIR, "judge", spec, os.path.join(home, "found"), judged], cwd=folder, check=False, **place)
        for key, seconds in (json.load(open(judged)) if os.path.exists(judged) else {}).items():
            tool, i, compiler = key.rsplit(" ", 2)
            runs[tool][int(i)][compiler] = seconds
    gpus.put((number, gpu))
    save(rows)


def card(gpu):
    words = ["nvidia-smi", "-i", gpu, "--query-gpu=name,driver_version,power.limit,clocks.max.sm", "--format=csv,noheader"]
    return subprocess.run(words, capture_output=True, text=True, check=False).stdout.strip()


def fair(rows):
    gpus = queue.Queue()
    for place in enumerate(GPUS):
        gpus.put(place)
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(len(GPUS)) as pool:
        subprocess.run([sys.executable, FAIR, "specs", folder], check=True)
        names = os.environ.get("KERNELS", "").split() or sorted(file[:-5] for file in os.listdir(folder) if file.endswith(".json"))
        list(pool.map(lambda name: fair_kernel(name, folder, gpus, rows), names))
    table(rows)


def middle(runs, key):
    values = [run[key] for run in runs if run.get(key) is not None]
    return statistics.median(values) if values else math.nan


def cell(value, unit=1, digits=3):
    return "-" if not math.isfinite(value) else f"{value * unit:.{digits}g}" if value * unit < 1000 else f"{value * unit:.0f}"


def table(rows):
    """Medians over the searches of a kernel: when they were near the best that the judge knows, and the state of the card."""
    kernels = {}
    for row in rows:
        kept = kernels.setdefault(row["what"], {**row, "runs": {}})
        for tool, runs in row["runs"].items():
            kept["runs"].setdefault(tool, []).extend(runs)
    print(*sorted({f"{row['card']}; {row['processors']} processors; {row['seconds']} s" for row in rows}), sep="\n")
    print("\n| | tool | searches | 5 % | 1 % | 5 %, whole | evaluations | its best | judged, NVRTC | judged, nvcc | power | clock | lowered |\n" + "|---" * 13 + "|")
    for name, row in sorted(kernels.items()):
        best = min((run["nvrtc"] for runs in row["runs"].values() for run in runs if "nvrtc" in run), default=math.nan)
        for tool, runs in row["runs"].items():
            # a tool's clock may count the launch as well, so that what it measures is compared as the judge would
            clock = statistics.median([run["best"] / run["nvrtc"] for run in runs if "nvrtc" in run] or [math.nan])
            to = [cell(statistics.median(seconds_to(run, within * best * clock, whole) for run in runs), 1, 2)
                  for within, whole in ((WITHIN[0], False), (WITHIN[1], False), (WITHIN[0], True))]
            lowered = {word: statistics.fmean(run.get("lowered", {}).get(word, 0) for run in runs) for word in set(LOWERED.values())}
            print("|", " | ".join([name, f"{tool}, {runs[0]['strategy']}" if "strategy" in runs[0] else tool, str(len(runs)),
                                   *(t if t == "-" else t + " s" for t in to), cell(middle(runs, "evaluations"), 1, 4),
                                   *(cell(middle(runs, key), 1e3, 4) + " ms" for key in ("best", "nvrtc", "nvcc")),
                                   cell(middle(runs, "power_w")) + " W", cell(middle(runs, "clock_mhz")) + " MHz",
                                   ", ".join(f"{word} {share:.0%}" for word, share in lowered.items() if share >= 0.01) or "no"]), "|")


def main():
    rows = []
    if sys.argv[1:2] != ["table"] and not shutil.which(SWEETSPOT):
        sys.exit(f"{SWEETSPOT} was not found: set SWEETSPOT")
    if sys.argv[1:2] in (["build"], ["paced"]):
        build(rows, sys.argv[1] == "paced")
    elif sys.argv[1:] == ["fair"]:
        fair(json.load(open(os.environ["OUT"])) if os.path.exists(os.environ.get("OUT", "")) else rows)
    elif sys.argv[1:2] == ["table"]:
        table([row for path in sys.argv[2:] for row in json.load(open(path))])
    else:
        sys.exit(__doc__)


main()

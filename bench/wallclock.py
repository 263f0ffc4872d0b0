# SPDX-License-Identifier: GPL-3.0-or-later
"""How long does a search take to come within 5 % and 1 % of the best known, in seconds of wall clock?

  wallclock.py build           a program in C with a choice of 12 compiler flags, one build at a time and as many as processors
  wallclock.py paced           the same, but the program sleeps as long as its flags say, so that no noise of the machine decides
  wallclock.py cuda FOLDER     the T1 specifications FOLDER/*.json on a GPU, compiled one at a time and ahead; and Kernel Tuner,
                               if it is installed and FOLDER/kt.py KERNEL STRATEGY SEED SECONDS OUT.json tunes with it. If there is
                               a FOLDER/judge.py KERNEL CANDIDATES.json, it compares the best configuration of each tool

$SEEDS searches each (5) from $FIRST_SEED on, $SECONDS each (60), $KERNELS of the folder, $TOOLS (one by one,ahead,Kernel Tuner), $OUT
for the figures in JSON, all trials of each search among them. The best known is the smallest time that any of these searches has measured
in its race or duel. A search that never comes near counts as infinite."""
import glob
import json
import math
import os
import re
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from datetime import datetime

SWEETSPOT = os.environ.get("SWEETSPOT", "sweetspot")
SEEDS = int(os.environ.get("SEEDS", "5"))
FIRST_SEED = int(os.environ.get("FIRST_SEED", "1"))
SECONDS = int(os.environ.get("SECONDS", "60"))
TOOLS = os.environ.get("TOOLS", "").split(",") if os.environ.get("TOOLS") else None
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


def ours(words, seed, folder):
    """One search with an empty store and an empty cache."""
    store, begun = os.path.join(folder, "store.db"), time.time()
    env = {**os.environ, "XDG_CACHE_HOME": os.path.join(folder, "cache"), "XDG_DATA_HOME": folder}
    done = subprocess.run([SWEETSPOT, "tune", "--seed", str(seed), "--budget", f"{SECONDS}s", "--counters", "none", "--store", store,
                           "--json", "-q", *words], stdout=subprocess.PIPE, env=env, check=False)
    if done.returncode:
        return {"points": [], "best": math.inf, "evaluations": 0}
    result = json.loads(done.stdout)["results"][0]
    return {"points": trajectory(store, begun), "best": result["best"]["median"] or math.inf, "evaluations": result["evaluations"],
            "elapsed": result["elapsed_s"], "seconds": result["seconds"], "builds": result.get("builds"), "config": result["best"]["config"]}


# Runs the folder's driver, but keeps what every evaluation came to, and when.
DRIVER = """
import json, runpy, sys
import kernel_tuner
plain = kernel_tuner.tune_kernel
def kept(*words, **more):
    # its local searches stop at 100 evaluations unless they are told how many they may make
    more["strategy_options"] = {"max_fevals": 10**9, **(more.get("strategy_options") or {})}
    results, env = plain(*words, **more)
    json.dump([[str(r.get("timestamp")), r["time"]] for r in results if isinstance(r.get("time"), (int, float))], open(sys.argv[-1] + ".all", "w"))
    return results, env
kernel_tuner.tune_kernel = kept
sys.argv = sys.argv[1:]
runpy.run_path("kt.py", run_name="__main__")
"""


def theirs(kernel, seed, source, folder):
    out, begun = os.path.join(folder, "kt.json"), time.time()
    done = subprocess.run([sys.executable, "-c", DRIVER, "kt.py", kernel, "greedy_ils", str(seed), str(SECONDS), out], cwd=source,
                          stdout=subprocess.DEVNULL, check=False)
    if done.returncode:
        return {"points": [], "best": math.inf, "evaluations": 0}
    points = [(datetime.fromisoformat(when).timestamp() - begun, ms / 1e3) for when, ms in json.load(open(out + ".all"))]
    return {"points": points, "best": min(value for _, value in points), "evaluations": len(points), "elapsed": time.time() - begun,
            "config": json.load(open(out)).get("config")}


def seconds_to(run, target):
    return min((at for at, value in run["points"] if value <= target), default=math.inf)


def judge(name, runs, source):
    """The best configurations of all tools, measured by one judge because the tools compile and measure in different ways: tool -> s."""
    best = {tool: min(all_of, key=lambda run: run["best"]) for tool, all_of in runs.items()}
    with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
        json.dump([[tool, run["config"]] for tool, run in best.items() if run.get("config")], file)
        file.flush()
        done = subprocess.run([sys.executable, "judge.py", name, file.name], cwd=source, stdout=subprocess.PIPE, text=True, check=False)
    found = re.findall(rf"^JUDGE {re.escape(name)} (.+) ([0-9.eE+-]+) ms$", done.stdout, re.M)
    return {tool: float(ms) / 1e3 for tool, ms in found}


def save(rows):
    if os.environ.get("OUT"):
        with open(os.environ["OUT"], "w", encoding="utf-8") as file:
            json.dump(rows, file, indent=1)


def compare(name, tools, rows, source=None):
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
    judged = judge(name, runs, source) if source and os.path.exists(source + "/judge.py") else {}
    for row in rows:
        if row["what"] == name and row["tool"] in judged:
            row["judged_s"] = judged[row["tool"]]
            print(f"{name:12} {row['tool']:16} judged {row['judged_s'] * 1e3:.4g} ms", flush=True)
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


def cuda(rows, source):
    names = os.environ.get("KERNELS", "").split() or sorted(os.path.basename(path)[:-5] for path in glob.glob(source + "/*.json"))
    tuner = os.path.exists(source + "/kt.py") and subprocess.run([sys.executable, "-c", "import kernel_tuner, cupy"], check=False,
                                                                 stderr=subprocess.DEVNULL).returncode == 0
    for name in names:
        spec = ["--spec", os.path.join(source, name + ".json")]
        tools = {"one by one": lambda seed, home, spec=spec: ours([*spec, "--jobs", "1"], seed, home),
                 "ahead": lambda seed, home, spec=spec: ours(spec, seed, home)}
        if tuner:
            tools["Kernel Tuner"] = lambda seed, home, name=name: theirs(name, seed, source, home)
        compare(name, tools, rows, source)


def main():
    rows = []
    if not shutil.which(SWEETSPOT):
        sys.exit(f"{SWEETSPOT} was not found: set SWEETSPOT")
    if sys.argv[1:2] in (["build"], ["paced"]):
        build(rows, sys.argv[1] == "paced")
    elif sys.argv[1:2] == ["cuda"] and len(sys.argv) == 3:
        cuda(rows, os.path.abspath(sys.argv[2]))
    else:
        sys.exit(__doc__)


main()

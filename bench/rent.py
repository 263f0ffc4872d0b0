# SPDX-License-Identifier: GPL-3.0-or-later
"""Does every recommended change pay? Simulated duels and tunes with many noises, programs that sleep by their switches, and
five real ones, whose changes are taken back in pairs of its own.
RUNS: seeds of each program; BUDGET: seconds of each tune; PARTS: simulated,tunes,switches,real, or some of these."""
import math
import os
import random
import statistics
import subprocess
import sys
import time

from common import BUILD, FOLDER, call, figure, finish, median

RUNS, BUDGET = int(os.environ.get("RUNS", "3")), os.environ.get("BUDGET", "25s")
SOURCE = r"""
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
static char **words;
static int on(const char *name) {
	for (char **word = words; *word; word++)
		if (strcmp(*word, name) == 0) return 1;
	return 0;
}
static double factor(int model) {
	int a = on("F1=on"), b = on("F2=on"), c = on("F3=on"), five = on("F5=on");
	switch (model) {
	case 1: return five ? 1 / 1.4 : 1;
	case 2: return a && b ? 1 / 1.5 : 1;
	case 3: return a && b && c ? 1 / 1.5 : 1;
	case 4: return a || b ? 1 / 1.4 : 1;
	case 5: return !a ? 1 : b ? 1 / 1.5 : 1 / 1.2;
	default: return 1;
	}
}
int main(int argc, char **argv) {
	struct timespec now, rest = {0, 0};
	double z = 0;
	words = argv + 2;
	clock_gettime(CLOCK_REALTIME, &now);
	srand((unsigned)now.tv_nsec);
	for (int i = 0; i < 12; i++) z += rand() / (double)RAND_MAX;
	rest.tv_nsec = (long)(60e6 * factor(argc > 1 ? atoi(argv[1]) : 0) * exp(.03 * (z - 6)));
	nanosleep(&rest, NULL);
	return 0;
}
"""
# model: number of switches, the smallest sets with the gain, the gain
MODELS = {0: (6, [], 1), 1: (12, [{"F5"}], 1.4), 2: (6, [{"F1", "F2"}], 1.5), 3: (6, [{"F1", "F2", "F3"}], 1.5),
          4: (6, [{"F1"}, {"F2"}], 1.4), 5: (6, [{"F1", "F2"}], 1.5)}


def simulated():
    """The table of tests/tuner/race/ablation: 200 duels a row, as counts."""
    text = subprocess.run([os.path.join(BUILD, "tests/tuner/race/ablation"), "table"], capture_output=True, text=True, check=True).stdout
    sys.stderr.write(text)
    rows = [(line[:24].strip(), line[24:71].strip(), line[71:].split()) for line in text.splitlines()[1:]]
    usual = [r for r in rows if not r[1].startswith("load") and not r[0].startswith("none")]
    loaded = [r for r in rows if r[1].startswith("load") and not r[0].startswith("none")]
    none = [r for r in rows if r[0].startswith("none")]
    minimal = sum(int(r[2][1]) for r in usual) / (2 * len(usual))
    decided = sum(int(r[2][0]) for r in loaded) / (2 * len(loaded))
    prices = sum(int(" ".join(r[2][3:-3]).split("/")[1]) for r in rows)
    false = sum(int(r[2][-3]) for r in rows)
    winners = sum(int(r[2][0]) for r in none)
    return [figure("simulated: the smallest set remains", minimal, "%", ">= 90", minimal >= 90),
            figure("simulated, load: proven faster", decided, "%", ">= 80", decided >= 80),
            figure(f"simulated: prices that are false, of {prices}", false, "prices", "<= 5 %", false <= 0.05 * max(prices, 1)),
            figure(f"simulated: false winners, of {200 * len(none)}", winners, "duels", "<= 1 %", winners <= 2 * len(none)),
            figure("simulated: runs of a final, median", median([float(r[2][-1]) for r in usual]), "runs", "<= 400", True)]


def tunes():
    """The table of tests/tuner/tune/rent: whole tunes of a simulated program, 40 or 100 a row."""
    text = subprocess.run([os.path.join(BUILD, "tests/tuner/tune/rent"), "table"], capture_output=True, text=True, check=True).stdout
    sys.stderr.write(text)
    rows = [(line[:22].strip(), line[22:38].strip(), [float(word) for word in line[38:].split()]) for line in text.splitlines()
            if line[:1].isalpha() and not line.startswith("truth ")]
    gains = [r for r in rows if not r[0].startswith("no")]
    share = lambda rows, column: 100 * sum(r[2][column] for r in rows) / sum(r[2][0] for r in rows)
    usual, loaded = [r for r in gains if "load" not in r[1]], [r for r in gains if "load" in r[1]]
    winners = sum(r[2][1] for r in rows if r[0].startswith("no"))
    nulls = sum(r[2][0] for r in rows if r[0].startswith("no"))
    return [figure("tunes: proven faster", share(usual, 1), "%", ">= 90", share(usual, 1) >= 90),
            figure("tunes: the smallest set is recommended", share(usual, 2), "%", ">= 90", share(usual, 2) >= 90),
            figure("tunes, load: proven faster", share(loaded, 1), "%", ">= 80", share(loaded, 1) >= 80),
            figure("tunes: all prices hold", share(gains, 3), "%", ">= 95", share(gains, 3) >= 95),
            figure(f"tunes: false winners, of {nulls:.0f}", winners, "tunes", "<= 1 %", winners <= 0.01 * nulls),
            figure("tunes: seconds of race and duel, median", median([r[2][6] for r in usual]), "s", "of 20", True)]


def switches():
    program = os.path.join(FOLDER.name, "switches")
    subprocess.run(["cc", "-O1", "-x", "c", "-", "-o", program, "-lm"], input=SOURCE, text=True, check=True)
    faster = minimal = false = clear = gains = nulls = wrong = 0
    seconds = []
    for model, (count, least, gain) in MODELS.items():
        names = [f"F{i + 1}" for i in range(count)]
        for seed in range(1, RUNS + 1):
            params = [word for name in names for word in ("--param", f"{name}=off,on")]
            words = [f"{name}={{{name}}}" for name in names]
            result = call("tune", "-q", *params, "--seed", str(seed), "--budget", BUDGET, "--store", f"{FOLDER.name}/{model}-{seed}.db",
                          "--", program, str(model), *words)["results"][0]
            changed = {name for name in names if result["best"]["config"][name] == "on"}
            proven = [price for price in result.get("worth", []) if price["ci"][0] > 1.01]
            clear += len(proven)
            false += sum(not any(price["param"] in some for some in least) for price in proven)
            seconds.append(result["seconds"]["race"] + result["seconds"]["duel"])
            if gain == 1:
                nulls, wrong = nulls + 1, wrong + (result["verdict"] == "faster")
                continue
            gains, faster, minimal = gains + 1, faster + (result["verdict"] == "faster"), minimal + (changed in least)
    return [figure(f"programs: proven faster, of {gains}", faster, "tunes", ">= 80 %", faster >= 0.8 * gains),
            figure(f"programs: the smallest set is recommended, of {gains}", minimal, "tunes", ">= 90 %", minimal >= 0.9 * gains),
            figure(f"programs: prices that are false, of {clear}", false, "prices", "<= 5 %", false <= 0.05 * max(clear, 1)),
            figure(f"programs: false winners, of {nulls}", wrong, "tunes", "0", wrong == 0),
            figure("programs: seconds of race and duel, median", median(seconds), "s", f"of {BUDGET}", True)]


KEY = 32 * "1"
LOOPS = r"""
#include <stdio.h>
#include <stdlib.h>
enum { N = 1 << 14, TIMES = 1500 };
static double a[N], b[N];
int main(void) {
	double sum = 0;
	for (int i = 0; i < N; i++) a[i] = i % 7, b[i] = i % 5;
	for (int k = 0; k < TIMES; k++) {
#ifdef STENCIL
		for (int i = 1; i < N - 1; i++) b[i] = (a[i - 1] + a[i] + a[i + 1]) / 4 + 1;
		for (int i = 1; i < N - 1; i++) a[i] = (b[i - 1] + b[i] + b[i + 1]) / 4;
#else
		for (int i = 0; i < N; i++) sum += a[i] * b[i];
#endif
	}
	return printf("%.0f\n", sum + a[N / 2]) < 0;
}
"""
FLAGS = {"M": ["", "-ffast-math"], "L": ["", "-flto"], "U": ["", "-fno-plt"], "A": ["", "-fno-strict-aliasing"], "C": ["", "-fno-common"]}
BUILT = "cc {O} {M} {L} {U} {A} {C} -x c {F}/loops.c -o {F}/{X}"
# name: the parameters, the command, and the build
REAL = {"sort": ({"B": ["64K", "64M"], "P": ["1", "2"], "N": ["16", "64"], "MALLOC_ARENA_MAX": ["1", "4"]},
                 "sort -S {B} --parallel={P} --batch-size={N} {F}/words -o {F}/sorted", None),
        "zstd": ({"L": ["9", "3"], "C": ["--check", "--no-check"], "A": ["--asyncio", "--no-asyncio"], "S": ["--sparse", "--no-sparse"]},
                 "zstd -q -f -{L} {C} {A} {S} {F}/words -o /dev/null", None),
        "openssl": ({"OPENSSL_ia32cap": ["~0x200000200000000", "~0x0"], "MALLOC_ARENA_MAX": ["1", "4"], "B": ["8192", "16384"],
                     "MALLOC_TOP_PAD_": ["0", "131072"]},
                    "openssl enc -aes-256-ctr -K {K}{K} -iv {K} -bufsize {B} -in {F}/big -out /dev/null", None),
        "sum": ({"O": ["-O2", "-O3", "-O1"], **FLAGS}, "{F}/{X}", BUILT),
        "stencil": ({"O": ["-O1", "-O2", "-O3"], **FLAGS}, "{F}/{X}", BUILT + " -DSTENCIL")}


def prepared(name, config, label):
    """The environment and the words that run this configuration, which is built."""
    _, command, build = REAL[name]
    filled = lambda text: text.replace("{F}", FOLDER.name).replace("{X}", label).replace("{K}", KEY).format(**config)
    if build:
        subprocess.run(filled(build), shell=True, check=True, stderr=subprocess.DEVNULL)
    return {**os.environ, **{k: str(v) for k, v in config.items() if "{" + k + "}" not in command + (build or "")}}, filled(command).split()


def pairs(name, slow, fast, count=31):
    """Median and 95 % interval (by ranks of the pairs) of the time of one configuration over that of another."""
    sides, logs = [prepared(name, slow, "slow"), prepared(name, fast, "fast")], []
    for _ in range(count):
        seconds = [0, 0]
        for side in random.sample((0, 1), 2):
            begun = time.perf_counter()
            subprocess.run(sides[side][1], env=sides[side][0], stdout=subprocess.DEVNULL, check=True)
            seconds[side] = time.perf_counter() - begun
        logs.append(math.log(seconds[0] / seconds[1]))
    logs.sort()
    rank = int((count - 1.96 * math.sqrt(count)) / 2)
    return [math.exp(value) for value in (statistics.median(logs), logs[rank], logs[-rank - 1])]


def real():
    draw = random.Random(1)
    words = [f"{draw.getrandbits(draw.choice((12, 20, 40))):x}" for _ in range(5000)]
    text = "".join(" ".join(draw.choices(words, k=3)) + "\n" for _ in range(60000))
    for name, content in (("words", text), ("big", 32 * text), ("loops.c", LOOPS)):
        with open(os.path.join(FOLDER.name, name), "w") as file:
            file.write(content)
    faster = total = minimal = false = clear = held = 0
    for name, (params, command, build) in REAL.items():
        today = {param: values[0] for param, values in params.items()}
        for seed in range(1, RUNS + 1):
            filled = lambda words: words.replace("{F}", FOLDER.name).replace("{X}", "app").replace("{K}", KEY)
            options = [word for param, values in params.items() for word in ("--param", f"{param}=" + ",".join(values))]
            options += ["--cwd", FOLDER.name, "--build", filled(build)] if build else []
            result = call("tune", "-q", *options, "--seed", str(seed), "--budget", BUDGET, "--store", f"{FOLDER.name}/{name}-{seed}.db",
                          "--", *filled(command).split())["results"][0]
            total, needed = total + 1, True
            print(name, seed, result["verdict"], (result["speedup"] or {}).get("ci"), file=sys.stderr)
            if result["verdict"] != "faster":
                continue
            best, faster = result["best"]["config"], faster + 1
            for price in result["worth"]:
                without = {**best, price["param"]: today[price["param"]]}
                ratio, low, high = pairs(name, without, best)
                print(f"  {price['param']}={price['value']} {price['ratio']} {price['ci']}: {ratio:.3f} [{low:.3f}, {high:.3f}]", file=sys.stderr)
                needed = needed and ratio > 1.02
                clear += price["proven"]
                false += price["proven"] and high < 1.01
                held += price["proven"] and price["ci"][0] <= high and low <= price["ci"][1]
            minimal += needed
    return [figure(f"real programs: proven faster, of {total}", faster, "tunes", ">= 80 %", faster >= 0.8 * total),
            figure(f"real programs: each change pays, of {faster}", minimal, "tunes", ">= 90 %", minimal >= 0.9 * faster),
            figure(f"real programs: prices that are false, of {clear}", false, "prices", "<= 5 %", false <= 0.05 * max(clear, 1)),
            figure(f"real programs: prices that hold, of {clear}", held, "prices", ">= 95 %", held >= 0.95 * clear)]


PARTS = {"simulated": simulated, "tunes": tunes, "switches": switches, "real": real}
finish([row for part in os.environ.get("PARTS", ",".join(PARTS)).split(",") for row in PARTS[part]()])

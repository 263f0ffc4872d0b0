# SPDX-License-Identifier: GPL-3.0-or-later
"""Does every recommended change pay? Simulated duels with many noises, then real programs that sleep by their switches.
RUNS: seeds of each program; BUDGET: seconds of each tune; PARTS=simulated: only the simulation, which takes a minute."""
import os
import subprocess
import sys

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


def real():
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


finish(simulated() + ([] if os.environ.get("PARTS") == "simulated" else real()))

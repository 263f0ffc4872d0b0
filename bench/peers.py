# SPDX-License-Identifier: GPL-3.0-or-later
"""How many evaluations do other optimisers need on recorded spaces, relative to ours? optuna's TPE and SMAC.

$SWEETSPOT_SPACES is a folder of recorded spaces, KERNEL.DEVICE.json.gz; $PEER_PYTHON a Python that has optuna and smac
(python3; what it lacks is skipped, with the reason). $PEERS says which of peers_search.py or of our own strategies, and
how many seeds of each (random:30 tpe:30 smac:10), from $SEED (1000). $BUDGET evaluations (200). $RUNS,
where it is set, is a folder that keeps each run of a peer, so that a later call goes on where this one ended.

All search the same configurations without earlier results, baseline or hints. Ours knows which ones there are. The peers
cannot be told the constraints, so they get the whole grid; a configuration outside the space costs them nothing, nor does
one that they measured before. A failure counts, as it does for ours. Numbers are integers (the index in the sorted
values), words are categories. After 100 proposals in vain, the next evaluation is drawn at random from what is left. A
run that never comes within the bound counts twice the budget. A search of a peer ends when it is within the least bound.

Ratios are geometric means over runs paired by seed; intervals are from 2000 bootstraps over the pairs. Times are
processor times of all that happens between two evaluations, divided by the evaluations."""
import json
import math
import os
import statistics
import subprocess
import sys

from common import BOUNDS, arrival, call, cpu_seconds, figure, finish, interval, median, recorded_spaces

SPACES, RUNS = os.environ.get("SWEETSPOT_SPACES", ""), os.environ.get("RUNS")
PYTHON = os.environ.get("PEER_PYTHON", "python3")
PEERS = os.environ.get("PEERS", "random:30 tpe:30 smac:10")
REPEAT = {peer: int(repeat) for peer, repeat in (word.split(":") for word in PEERS.split())}
SEED, BUDGET = int(os.environ.get("SEED", "1000")), int(os.environ.get("BUDGET", "200"))
SEARCH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers_search.py")
OTHERS, MISSING = ("tpe", "tpe-independent", "smac"), 77
rows = []


def ours(path, strategy, repeat):
    done = call("replay", path, "--strategy", strategy, "--repeat", str(repeat), "--seed", str(SEED),
                "--budget", f"{BUDGET}e")
    return [{"values": [step["value"] for step in run["evaluations"]]} for run in done["runs"]]


def our_seconds(path):
    words = ["replay", path, "--strategy", "auto", "--budget"]
    return (cpu_seconds(*words, f"{BUDGET}e") - cpu_seconds(*words, "1e")) / (BUDGET - 1)


def grid(path):
    """The space as peers_search.py wants it: every configuration with its time, as our own searches see them."""
    steps = call("replay", path, "--strategy", "random", "--budget", "100000000e")["runs"][0]["evaluations"]
    values = {name: {step["config"].get(name) for step in steps} for name in steps[0]["config"]}
    words = {name: not all(type(value) in (int, float) for value in found) for name, found in values.items()}
    order = {name: sorted(found, key=str if words[name] else None) for name, found in values.items() if len(found) > 1}
    level = {name: {value: i for i, value in enumerate(found)} for name, found in order.items()}
    results = [([level[name][step["config"].get(name)] for name in order], step["value"]) for step in steps]
    return {"levels": [len(found) for found in order.values()], "categorical": [words[name] for name in order],
            "results": results, "budget": BUDGET, "enough": min(BOUNDS.values()) * least(results)}


def least(results):
    return min(value for _, value in results if value)


def kept(name):
    if not RUNS or not os.path.exists(name):
        return []
    with open(name) as file:
        return [json.loads(line) for line in file if line.endswith("\n")]


def theirs(peer, path, space):
    """The runs of the first seeds, or None if the peer is not there."""
    name = os.path.join(RUNS or "", f"{peer}.{BUDGET}.{os.path.basename(path)}l")
    wanted = range(SEED, SEED + REPEAT[peer])
    runs = {run["seed"]: run for run in kept(name)}
    left = [seed for seed in wanted if seed not in runs]
    if left:
        with subprocess.Popen([PYTHON, SEARCH, peer], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                              env={**os.environ, "PYTHONHASHSEED": "0"}) as process:
            version = process.stdout.readline()
            if version:
                json.dump({**space, "seeds": left}, process.stdin)
            process.stdin.close()
            for line in process.stdout:
                run = {**json.loads(line), **json.loads(version)}
                runs[run["seed"]] = run
                if RUNS:
                    with open(name, "a") as file:
                        print(json.dumps(run), file=file)
        if process.returncode == MISSING:
            return None
        if process.returncode:
            sys.exit(f"{peer} on {path}: exit {process.returncode}")
    return [runs[seed] for seed in wanted]


def compare(title, peer, mine, others, optimum):
    """A row for each bound; returns the logarithms of the ratios."""
    logs = {}
    for name, bound in BOUNDS.items():
        pairs = [[arrival(run["values"], bound * optimum, BUDGET) for run in pair] for pair in zip(mine, others)]
        logs[name] = [math.log(b / a) for a, b in pairs]
        mean, never = statistics.geometric_mean, 2 * BUDGET
        texts = [f"{mean(side):.1f} (median {median(side):g}, never {side.count(never)})" for side in zip(*pairs)]
        add(f"{title}: to {name}, {peer} over ours", [logs[name]],
            f", {len(pairs)} seeds, ours {texts[0]}, theirs {texts[1]}")
    return logs


def add(title, groups, text):
    ratio = math.exp(statistics.fmean(statistics.fmean(group) for group in groups))
    least, most = (math.exp(end) for end in interval(groups))
    rows.append(figure(title, ratio, "", f">= 1, 95 % {least:.2f} to {most:.2f}{text}", ratio >= 1))


def costs(title, peer, runs, our_cost):
    cost = median([run["seconds"] / len(run["values"]) for run in runs])
    keys = ("proposals", "repeats", "outside", "drawn")
    mean = {key: statistics.fmean(run[key] / len(run["values"]) for run in runs) for key in keys}
    rows.append(figure(f"{title}: an evaluation's proposals, {peer}", 1e3 * cost, "ms",
                       "any, ours {:.2f}; {proposals:.2f} proposals, {repeats:.2f} repeated, {outside:.2f} outside; "
                       "{drawn:.3f} evaluations drawn".format(1e3 * our_cost, **mean), True))


def measure():
    logs = {peer: {name: [] for name in BOUNDS} for peer in REPEAT}
    for path in recorded_spaces(SPACES):
        title = os.path.basename(path)[:-len(".json.gz")]
        space, mine, cost = grid(path), ours(path, "auto", max(REPEAT.values())), our_seconds(path)
        for peer in list(logs):
            runs = theirs(peer, path, space) if peer in OTHERS else ours(path, peer, REPEAT[peer])
            if runs is None:
                print(f"     {PYTHON} lacks what {peer} needs", file=sys.stderr)
                del logs[peer]
                continue
            label = f"{peer} ({runs[0]['version']})" if peer in OTHERS else peer
            for name, found in compare(title, label, mine, runs, least(space["results"])).items():
                logs[peer][name].append(found)
            if peer in OTHERS:
                costs(title, peer, runs, cost)
    for peer, found in logs.items():
        for name, groups in found.items():
            if groups:
                add(f"{len(groups)} spaces: to {name}, {peer} over ours", groups, "")


if os.path.isdir(SPACES):
    measure()
else:
    print("     $SWEETSPOT_SPACES is not a folder, so there are no recorded spaces to search", file=sys.stderr)
finish(rows)

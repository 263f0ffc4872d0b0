# SPDX-License-Identifier: GPL-3.0-or-later
"""How few evaluations do searches need on recorded spaces, beside other programs' strategies, and what do they cost?

$SWEETSPOT_SPACES is a folder of recorded spaces, KERNEL.DEVICE.json.gz; $SWEETSPOT_PEERS, where it is set, a file for
`score --peers`. $REPEAT repeats (25). Where there is no folder, there is nothing to measure."""
import gzip
import json
import os
import random
import statistics
import subprocess
import sys
import time

from common import ENVIRONMENT, FOLDER, PROGRAM, call, cpu_seconds, figure, finish, median

SPACES = os.environ.get("SWEETSPOT_SPACES", "")
PEERS = os.environ.get("SWEETSPOT_PEERS", "")
REPEAT = os.environ.get("REPEAT", "25")
KERNELS, DEVICES = ("convolution_milo", "dedispersion_milo"), ("A100", "A4000", "MI250X")
NEVER = 2000
WITH_MODEL = ("auto", "bayes")
rows = []


def path(kernel, device):
    return os.path.join(SPACES, f"{kernel}.{device}.json.gz")


def value(result, name, key=None):
    found = result[name][key] if key else result[name]
    return found["value"] if found["value"] is not None else NEVER


def against_peers():
    files = [path(kernel, device) for kernel in KERNELS for device in DEVICES]
    peers = ["--peers", PEERS] if PEERS else []
    done = call("score", *files, "--strategy", "auto", "--repeat", REPEAT, *peers)
    others = done.get("peers", {}).get("over_all", [])
    for name, key, wanted, least in (("ratio_at", "25", .80, False), ("ratio_at", "50", .92, False),
                                     ("ratio_at", "100", .98, False), ("evals_to", "5%", 20, True),
                                     ("evals_to", "1%", 42, True), ("score_time_expected", None, .65, False)):
        ours = value(done["over_all"], name, key)
        theirs = [peer[name][key] if key else peer[name] for peer in others]
        known = [x for x in theirs if x is not None]
        title = f"auto: {name} {key or ''}".strip()
        best = (min if least else max)(known, default=None)
        beside = f", best peer {best:.3g}, {ours / best:.2f} of that" if best else ""
        rows.append(figure(title, ours, "evals" if least else "", f"{'<=' if least else '>='} {wanted}{beside}",
                           ours <= wanted if least else ours >= wanted))
    rows.append(figure("auto: published score over time", done["score"], "", "> 0", done["score"] > 0))


def to_one_percent(space, *more):
    """Median evaluations to within 1 %."""
    done = call("score", space, "--strategy", "auto", "--repeat", REPEAT, "--budget", "400e", *more)
    return value(done["per_space"][0], "evals_to", "1%")


def batches():
    """What asking for several at a time costs in evaluations: geometric means over the spaces of medians over the repeats."""
    files = [path(kernel, device) for kernel in KERNELS for device in DEVICES]
    done = {batch: call("score", *files, "--strategy", "auto", "--repeat", REPEAT, "--budget", "400e", "--batch", str(batch))
            for batch in (1, 8, 16)}
    for batch, wanted in ((8, 1.15), (16, 1.3)):
        for key in ("5%", "1%"):
            one, many = (value(done[n]["over_all"], "evals_to", key) for n in (1, batch))
            rows.append(figure(f"auto: evaluations to {key}, one by one", one, "evals", f"< {NEVER}", one < NEVER))
            rows.append(figure(f"auto: batches of {batch} over one by one, to {key}", many / one, "", f"<= {wanted}",
                               many <= wanted * one))


def shuffled(source):
    """The same configurations with each other's results."""
    with gzip.open(source) as file:
        record = json.load(file)
    keys, entries = list(record["cache"]), list(record["cache"].values())
    results = [{k: v for k, v in e.items() if k not in record["tune_params_keys"]} for e in entries]
    random.Random(1).shuffle(results)
    for key, entry, result in zip(keys, entries, results):
        record["cache"][key] = {**{p: entry[p] for p in record["tune_params_keys"]}, **result}
    name = os.path.join(FOLDER.name, "shuffled.json")
    with open(name, "w") as file:
        json.dump(record, file)
    return name


def warm_start():
    shares = []
    for kernel in KERNELS:
        source = path(kernel, "A100")
        wrong = shuffled(source)
        for device in ("A4000", "MI250X"):
            space = path(kernel, device)
            cold = to_one_percent(space)
            warm, misled = to_one_percent(space, "--from", source), to_one_percent(space, "--from", wrong)
            title = f"{kernel} {device}: evaluations to 1 %"
            rows.append(figure(title + ", cold", cold, "evals", f"< {NEVER}", cold < NEVER))
            rows.append(figure(title + ", warm over cold", warm / cold, "", "<= 0.5", warm <= .5 * cold))
            rows.append(figure(title + ", misled over cold", misled / cold, "", "<= 1.1", misled <= 1.1 * cold))
            shares.append((warm / cold, misled / cold))
    for name, wanted, column in zip(("warm", "misled"), (.5, 1.1), zip(*shares)):
        mean = statistics.geometric_mean(column)
        rows.append(figure(f"evaluations to 1 %, {name} over cold, geometric mean", mean, "", f"<= {wanted}", mean <= wanted))


def wall_seconds(*words):
    begun = time.monotonic()
    subprocess.run([PROGRAM, *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
    return time.monotonic() - begun


def own_cost():
    space = path("dedispersion_milo", "A100")
    for strategy in [row["name"] for row in call("list", "strategies")]:
        done = call("score", space, "--strategy", strategy, "--repeat", "3", "--budget", "200e", "--jobs", "1")
        cost, most = done["per_space"][0]["ms_per_proposal"], 10 if strategy in WITH_MODEL else .2
        rows.append(figure(f"{strategy}: a proposal, median", cost, "ms", f"<= {most}", cost <= most))
    late = median([cpu_seconds("replay", space, "--budget", "600e") - cpu_seconds("replay", space, "--budget", "400e")
                   for _ in range(3)]) / 200
    rows.append(figure("auto: a proposal at 500 observations", 1e3 * late, "ms", "<= 10", late <= .01))
    one = ["replay", space, "--strategy", "random", "--budget", "1e"]
    read = median([cpu_seconds(*one) for _ in range(5)])
    least = min(wall_seconds(*one) for _ in range(15))
    rows.append(figure("reading 11,130 configurations, program and all, least", 1e3 * least, "ms", "<= 50", least <= .05))
    many = 200
    whole = ["--strategy", "random", "--jobs", "1", "--budget", "1000000e", "--repeat", str(many)]
    speed = many * 11130 / (cpu_seconds("replay", space, *whole) - read)
    rows.append(figure("random: evaluations replayed on one core", speed, "/s", ">= 1e6", speed >= 1e6))


if os.path.isdir(SPACES):
    own_cost()
    against_peers()
    batches()
    warm_start()
else:
    print("     $SWEETSPOT_SPACES is not a folder, so there are no recorded spaces to search", file=sys.stderr)
finish(rows)

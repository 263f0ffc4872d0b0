# SPDX-License-Identifier: GPL-3.0-or-later
"""What do results of other machines save? Each machine of a kernel in turn is searched cold, with the whole records of
the other machines, and with stores of theirs: the first $STORED (100) evaluations of a search there.

$SWEETSPOT_SPACES is a folder of recorded spaces, KERNEL.DEVICE.json.gz; $KERNELS picks some. $REPEAT paired seeds (30)
from $SEED (1000), $BUDGET evaluations (200); a run that never comes within the bound counts twice the budget. Intervals
are from 2000 bootstraps over the pairs. $STRATEGY: auto."""
import collections
import glob
import gzip
import json
import math
import os
import statistics
import sys

from common import BOUNDS, FOLDER, arrival, call, figure, finish, interval, median

SPACES = os.environ.get("SWEETSPOT_SPACES", "")
REPEAT, SEED = int(os.environ.get("REPEAT", "30")), int(os.environ.get("SEED", "1000"))
BUDGET, STORED = int(os.environ.get("BUDGET", "200")), int(os.environ.get("STORED", "100"))
STRATEGY = os.environ.get("STRATEGY", "auto")
WANTED = {("whole records", "5 %"): .35, ("stores", "5 %"): .5, ("whole records", "1 %"): .5, ("stores", "1 %"): None}
rows = []


def kernels():
    """The files of each kernel that was recorded on several machines."""
    found, chosen = collections.defaultdict(dict), os.environ.get("KERNELS", "").split()
    for path in sorted(glob.glob(os.path.join(SPACES, "*.json.gz"))):
        name = os.path.basename(path)[:-len(".json.gz")].split(".")
        if len(name) == 2 and not name[1].endswith("_T4") and (not chosen or name[0] in chosen):
            found[name[0]][name[1]] = path
    return {kernel: files for kernel, files in found.items() if len(files) > 1}


def evaluations(space, sources=()):
    """For each bound, the evaluations that each seed needs."""
    words = [word for source in sources for word in ("--from", source)]
    done = call("replay", space, "--strategy", STRATEGY, "--repeat", str(REPEAT), "--seed", str(SEED), "--budget",
                f"{BUDGET}e", *words)
    return {name: [arrival([step["value"] for step in run["evaluations"]], bound * done["space"]["optimum"], BUDGET)
                   for run in done["runs"]] for name, bound in BOUNDS.items()}


def store_of(path):
    """The part of a record that a search of that machine leaves in a store."""
    with gzip.open(path) as file:
        record = json.load(file)
    names = record["tune_params_keys"]
    run = call("replay", path, "--strategy", STRATEGY, "--seed", str(SEED + 1), "--budget", f"{STORED}e")["runs"][0]
    seen = {tuple(str(step["config"][name]) for name in names if name in step["config"]) for step in run["evaluations"]}
    record["cache"] = {key: entry for key, entry in record["cache"].items()
                       if tuple(str(entry[name]) for name in names) in seen}
    if len(record["cache"]) != len(seen):
        sys.exit(f"{path}: {len(seen)} configurations were searched and {len(record['cache'])} of them found")
    name = os.path.join(FOLDER.name, os.path.basename(path)[:-len(".gz")])
    with open(name, "w") as file:
        json.dump(record, file)
    return name


def compare(title, kind, cold, warm, wanted, ratios):
    for name in BOUNDS:
        logs = [math.log(w / c) for w, c in zip(warm[name], cold[name])]
        least, most = (math.exp(end) for end in interval([logs]))
        ratio = math.exp(statistics.fmean(logs))
        ratios[kind, name].append(ratio)
        text = f"<= {wanted}, medians {median(cold[name]):g} and {median(warm[name]):g}, 95 % {least:.2f} to {most:.2f}"
        rows.append(figure(f"{title}: to {name}, {kind} over cold", ratio, "", text, ratio <= wanted))


def measure():
    ratios = collections.defaultdict(list)
    for kernel, files in kernels().items():
        stores = {device: store_of(path) for device, path in files.items()}
        for device, path in files.items():
            cold, title = evaluations(path), f"{kernel} {device}"
            for kind, sources in (("whole records", files), ("stores", stores)):
                others = [source for other, source in sources.items() if other != device]
                compare(title, kind, cold, evaluations(path, others), 1.1, ratios)
    for (kind, name), values in ratios.items():
        mean, wanted = statistics.geometric_mean(values), WANTED[kind, name]
        rows.append(figure(f"to {name}, {kind} over cold, geometric mean of {len(values)}", mean, "", f"<= {wanted or 1}",
                           mean <= (wanted or 1)))


if os.path.isdir(SPACES):
    measure()
else:
    print("     $SWEETSPOT_SPACES is not a folder, so there are no recorded spaces to search", file=sys.stderr)
finish(rows)

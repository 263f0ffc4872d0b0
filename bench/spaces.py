# SPDX-License-Identifier: GPL-3.0-or-later
"""Large spaces read from specifications, counted, and sampled without being listed, as whole processes."""
import json
import os
import subprocess
import time

from common import ENVIRONMENT, FOLDER, PROGRAM, figure, finish, median

RUNS, SAMPLES = 11, 1000

HOTSPOT = {
    "values": {"grid_width": "[4096]", "grid_height": "[4096]",
               "block_size_x": "[1, 2, 4, 8, 16] + list(range(32, 1024+1, 32))",
               "block_size_y": "[2**i for i in range(0, 6)]", "tile_size_x": "range(1, 11)",
               "tile_size_y": "range(1, 11)", "temporal_tiling_factor": "range(1, 11)", "max_tfactor": "[10]",
               "loop_unroll_factor_t": "range(1, 11)", "sh_power": "[0, 1]"},
    "conditions": ["block_size_x*block_size_y>= 32", "temporal_tiling_factor % loop_unroll_factor_t == 0",
                   "block_size_x*block_size_y <= 1024",
                   "(block_size_x*tile_size_x+ temporal_tiling_factor * 2) * (block_size_y*tile_size_y+ "
                   "temporal_tiling_factor * 2) * (2+sh_power) * 4 <= 49152"],
}


def chain(params, values, link):
    """values ** params combinations; each parameter is tied to the next."""
    return {"values": {f"p{i}": f"range(1, {values + 1})" for i in range(params)},
            "conditions": [link.format(a=f"p{i}", b=f"p{i + 1}") for i in range(params - 1)]}


def write(name, space):
    path = os.path.join(FOLDER.name, name + ".t1.json")
    params = [{"Name": key, "Type": "int", "Values": text} for key, text in space["values"].items()]
    with open(path, "w") as file:
        json.dump({"ConfigurationSpace": {"TuningParameters": params,
                                          "Conditions": [{"Expression": c} for c in space["conditions"]]}}, file)
    return path


def measure(path):
    """Seconds and peak bytes of one run; Linux counts this Python's own peak before exec too, so bytes are at most that."""
    words = [PROGRAM, "list", "params", "--spec", path, "--sample", str(SAMPLES), "--json"]
    with open(path + ".out", "w") as out:
        begun = time.perf_counter()
        process = subprocess.Popen(words, env=ENVIRONMENT, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        spent = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    with open(path + ".out") as out:
        return spent, usage.ru_maxrss * 1024, json.load(out)


def rows_of(name, space, valid, seconds):
    path = write("".join(c if c.isalnum() else "_" for c in name), space)
    runs = [measure(path) for _ in range(RUNS)]
    document = runs[0][2]
    assert valid is None or document["space"]["valid"] == valid, document["space"]
    assert len(document["samples"]) == SAMPLES
    spent, peak = median([run[0] for run in runs]), max(run[1] for run in runs)
    return [figure(f"{name}: counted, {SAMPLES} drawn", 1e3 * spent, "ms", f"< {1e3 * seconds:.0f}", spent < seconds),
            figure(f"{name}: peak memory", peak / 1e6, "MB", "< 100", peak < 100e6)]


rows = rows_of("hotspot", HOTSPOT, 82984, 0.05)
rows += rows_of("12 rising, 10 values each", chain(12, 10, "{a} <= {b}"), 293930, 1)
rows += rows_of("4 rising, 1000 values each", chain(4, 1000, "{a} <= {b}"), 1003 * 1002 * 1001 * 1000 // 24, 1)
rows += rows_of("6 products, 100 values each", chain(6, 100, "{a} * {b} <= 1000"), None, 1)
rows += rows_of("4 products, 1000 values each", chain(4, 1000, "{a} * {b} <= 100000"), None, 1)
rows += rows_of("12 divisible, 10 values each", chain(12, 10, "{b} % {a} == 0"), None, 1)
finish(rows)

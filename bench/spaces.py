# SPDX-License-Identifier: GPL-3.0-or-later
"""Large spaces read from specifications, counted, and sampled without being listed, as whole processes."""
import collections
import itertools
import json
import math
import operator
import os
import subprocess
import time

from common import BUILD, ENVIRONMENT, FOLDER, PROGRAM, figure, finish, median

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


CONVOLUTION = {
    "values": {"block_size_x": "[16*i for i in range(1, 17)]", "block_size_y": "[2**i for i in range(5)]",
               "tile_size_x": "range(1, 5)", "tile_size_y": "range(1, 5)", "read_only": "[0, 1]", "use_padding": "[0, 1]",
               "use_shmem": "[0, 1]", "use_cmem": "[1]", "filter_height": "[15]", "filter_width": "[15]"},
    "conditions": ["use_padding==0 or block_size_x % 32 != 0", "block_size_x*block_size_y<=1024",
                   "use_padding==0 or use_shmem != 0",
                   "use_shmem == 0 or (((block_size_x*tile_size_x+(filter_width-1)))*((block_size_y*tile_size_y+"
                   "(filter_height-1)))) < 12*1024"],
}
DEDISPERSION = {
    "values": {"block_size_x": "[1, 2, 4, 8, 16, 32]", "block_size_y": "[8*i for i in range(4, 33)]", "block_size_z": "[1]",
               "tile_size_x": "range(1, 5)", "tile_size_y": "range(1, 9)", "tile_stride_x": "[0, 1]",
               "tile_stride_y": "[0, 1]", "loop_unroll_factor_channel": "[0]"},
    "conditions": ["32 <= block_size_x * block_size_y <= 1024", "tile_size_x > 1 or tile_stride_x == 0",
                   "tile_size_y > 1 or tile_stride_y == 0"],
}
GEMM = {
    "values": {"GEMMK": "[0]", "MWG": "[16, 32, 64, 128]", "NWG": "[16, 32, 64, 128]", "KWG": "[16, 32]",
               "MDIMC": "[8, 16, 32]", "NDIMC": "[8, 16, 32]", "MDIMA": "[8, 16, 32]", "NDIMB": "[8, 16, 32]", "KWI": "[2]",
               "VWM": "[1, 2, 4, 8]", "VWN": "[1, 2, 4, 8]", "STRM": "[0, 1]", "STRN": "[0, 1]", "SA": "[0, 1]",
               "SB": "[0, 1]", "KREG": "[1]", "PRECISION": "[32]"},
    "conditions": ["KWG % KWI == 0", "MWG % (MDIMC * VWM) == 0", "NWG % (NDIMC * VWN) == 0", "MWG % (MDIMA * VWM) == 0",
                   "NWG % (NDIMB * VWN) == 0", "KWG % ((MDIMC * NDIMC)/MDIMA) == 0", "KWG % ((MDIMC * NDIMC)/NDIMB) == 0",
                   "not (MWG == 128 and NWG == 128 and MDIMC == 8 and NDIMC == 8)"],
}


def brute_force(space):
    """Every combination, tested by Python itself."""
    lists = [list(eval(text)) for text in space["values"].values()]
    test = eval(f"lambda {', '.join(space['values'])}: " + " and ".join(f"({c})" for c in space["conditions"]))
    return sum(1 for combination in itertools.product(*lists) if test(*combination))


def chain(params, values, link):
    """values ** params combinations; each parameter is tied to the next."""
    return {"values": {f"p{i}": f"range(1, {values + 1})" for i in range(params)},
            "conditions": [link.format(a=f"p{i}", b=f"p{i + 1}") for i in range(params - 1)]}


def chain_count(params, values, link):
    """Ends of valid chains, one parameter after the other."""
    holds = eval("lambda x, y: " + link.format(a="x", b="y"))
    after = [[b for b in range(values) if holds(a + 1, b + 1)] for a in range(values)]
    ends = [1] * values
    for _ in range(params - 1):
        ends = [sum(ends[b] for b in after[a]) for a in range(values)]
    return sum(ends)


def together(params, values, condition):
    """values ** params combinations under one condition."""
    return {"values": {f"p{i}": f"range(1, {values + 1})" for i in range(params)}, "conditions": [condition]}


def folded(params, values, fold, start, holds):
    """How many of values ** params combinations have a fold that holds: by how often each result comes."""
    ways = collections.Counter({start: 1})
    for _ in range(params):
        more = collections.Counter()
        for result, count in ways.items():
            for value in range(1, values + 1):
                more[fold(result, value)] += count
        ways = more
    return sum(count for result, count in ways.items() if holds(result))


def joined(sign, first, end):
    return f" {sign} ".join(f"p{i}" for i in range(first, end))


def either_count():
    """Twelve parameters of ten values: the first six add up to 15 at most, or the last six multiply to 500 at most."""
    sums = folded(6, 10, operator.add, 0, lambda s: s <= 15)
    products = folded(6, 10, operator.mul, 1, lambda p: p <= 500)
    return sums * 10 ** 6 + products * 10 ** 6 - sums * products


def write(name, space):
    path = os.path.join(FOLDER.name, name + ".t1.json")
    params = [{"Name": key, "Type": "int", "Values": text} for key, text in space["values"].items()]
    with open(path, "w") as file:
        json.dump({"ConfigurationSpace": {"TuningParameters": params,
                                          "Conditions": [{"Expression": c} for c in space["conditions"]]}}, file)
    return path


def measure(path):
    """Seconds, peak bytes, document and CPU seconds of one run. Linux counts this Python's own peak before exec too, so
    bytes are at most that."""
    words = [PROGRAM, "list", "params", "--spec", path, "--sample", str(SAMPLES), "--json"]
    with open(path + ".out", "w") as out:
        begun = time.perf_counter()
        process = subprocess.Popen(words, env=ENVIRONMENT, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        spent = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, words
    with open(path + ".out") as out:
        return spent, usage.ru_maxrss * 1024, json.load(out), usage.ru_utime + usage.ru_stime


def rows_of(name, space, valid, seconds=1):
    """`valid` was counted by other means."""
    path = write("".join(c if c.isalnum() else "_" for c in name), space)
    runs = [measure(path) for _ in range(RUNS)]
    document = runs[0][2]
    assert document["space"]["valid"] == valid, document["space"]
    assert len(document["samples"]) == SAMPLES
    spent, peak = median([run[0] for run in runs]), max(run[1] for run in runs)
    busy = median([run[3] for run in runs])
    return [figure(f"{name}: counted, {SAMPLES} drawn", 1e3 * spent, "ms", f"< {1e3 * seconds:.0f}", spent < seconds),
            figure(f"{name}: CPU time of that", 1e3 * busy, "ms", "-", True),
            figure(f"{name}: peak memory", peak / 1e6, "MB", "< 100", peak < 100e6)]


def api_rows():
    """Spaces inside one process: recorded ones, and what a call costs."""
    done = subprocess.run([os.path.join(BUILD, "bench", "spaces_api")], capture_output=True, text=True, check=True)
    rows = []
    for line in done.stdout.splitlines():
        name, value, unit, limit = line.split("\t")
        rows.append(figure(name, float(value), unit, f"<= {limit}", float(value) <= float(limit)))
    return rows


rows = api_rows()
for name, space in (("hotspot", HOTSPOT), ("gemm", GEMM), ("dedispersion", DEDISPERSION), ("convolution", CONVOLUTION)):
    rows += rows_of(name, space, brute_force(space), 0.05)
rows += rows_of("12 rising, 10 values each", chain(12, 10, "{a} <= {b}"), math.comb(21, 12))
rows += rows_of("20 rising, 20 values each", chain(20, 20, "{a} <= {b}"), math.comb(39, 20))
rows += rows_of("4 rising, 1000 values each", chain(4, 1000, "{a} <= {b}"), math.comb(1003, 4))
for params, values, link in ((6, 100, "{a} * {b} <= 1000"), (4, 1000, "{a} * {b} <= 100000"), (12, 10, "{b} % {a} == 0"),
                             (12, 10, "({a} + {b}) % 3 != 0"), (12, 10, "{a} < {b} or {b} % 2 == 0"),
                             (12, 10, "{a} & {b} == 0 if {a} > 4 else {b} in (2, 3, 7)")):
    name = f"{params} of " + link.format(a="a", b="b") + f", {values} values each"
    rows += rows_of(name, chain(params, values, link), chain_count(params, values, link))
rows += rows_of("12 that add up to 60", together(12, 10, joined("+", 0, 12) + " == 60"),
              folded(12, 10, operator.add, 0, lambda s: s == 60))
rows += rows_of("12 whose sum is 3 modulo 7", together(12, 10, f"({joined('+', 0, 12)}) % 7 == 3"),
              folded(12, 10, lambda r, v: (r + v) % 7, 0, lambda r: r == 3))
rows += rows_of("12 that multiply to at most 10^6", together(12, 10, joined("*", 0, 12) + " <= 10**6"),
              folded(12, 10, operator.mul, 1, lambda p: p <= 10 ** 6))
rows += rows_of("sum of six or product of six others",
              together(12, 10, f"{joined('+', 0, 6)} <= 15 or {joined('*', 6, 12)} <= 500"), either_count())
rows += rows_of("40 without constraints, 2 values each", together(40, 2, "p0 >= 1"), 2 ** 40)
finish(rows)

# SPDX-License-Identifier: GPL-3.0-or-later
"""The kernels of the suite beside what the machine can do at most, or beside the plain way to do the same.

Ceilings are measured first, then every configuration in rounds. Of both the best sample counts: on a busy machine
medians would show the neighbours. A share is the least time that the ceiling allows over the time taken."""
import os
import sys

from common import call, figure, finish

ROUNDS, SAMPLES = int(os.environ.get("ROUNDS", "2")), os.environ.get("SAMPLES", "3")
MACHINE = call("machine", "--ceilings", "--quiet")
TEAM = min(2, MACHINE["threads"])


def ceiling(name, threads, level=None):
    """GB/s, GFLOP/s or Gpair/s as bytes, operations or pairs a second."""
    found = [c for c in MACHINE["ceilings"] if c["name"] == name and c.get("level") == level and c["threads"] == threads]
    if not found:
        sys.exit(f"no ceiling {name} with {threads} threads")
    return 1e9 * max(found[0]["samples"])


def best(kernel, size, configs, threads):
    """Least seconds of a run, with the words of the configuration and the work of a run."""
    found = []
    for _ in range(ROUNDS):
        for config in configs:
            words = [*size.split(), *config.split(), f"threads={threads}"]
            said = call("run", kernel, *words, "--samples", SAMPLES)
            found.append((min(said["samples"]), config, said["work"]))
    found = min(found, key=lambda one: one[0])
    print(f"     {kernel} {size} {found[1]} threads={threads}: {1e3 * found[0]:.4g} ms", file=sys.stderr, flush=True)
    return found


def over(word, values, rest=""):
    return [f"{rest} {word}={value}".strip() for value in values]


rows = [{"name": f"ceiling: {c['name']}{' in ' + c['level'] if 'level' in c else ''}, {c['threads']} thread(s)",
         "value": max(c["samples"]) if c["unit"] not in ("us", "ns") else min(c["samples"]), "unit": c["unit"]}
        for c in MACHINE["ceilings"]]
for row in rows:
    print(f"     {row['name']:58} {row['value']:10.4g} {row['unit']}", file=sys.stderr)


def row(name, value, unit, bar):
    rows.append(figure(name, value, unit, f">= {bar:g}", value >= bar))


def fw():
    seconds, _, work = best("fw", "n=2048", over("block", (64, 128, 256), "variant=simd"), TEAM)
    row(f"fw simd 2048, {TEAM} threads: share of the add+min peak", work["ops"] / seconds / ceiling("addmin", TEAM), "", 0.6)


def gol():
    plain, _, _ = best("gol", "n=4096 generations=10", ["variant=int"], 1)
    bits, _, _ = best("gol", "n=4096 generations=10", over("strip", (1, 4, 16, 64), "variant=bits"), 1)
    row("gol 4096, 1 thread: bits over int", plain / bits, "x", 15)


def gol_temporal():
    n, generations = 32768, 32
    configs = [f"variant=temporal depth={depth} block={block} span={span}"
               for depth in (16, 32) for block in (8192, 32768) for span in (64, 128)]
    seconds, _, _ = best("gol", f"n={n} generations={generations}", configs, TEAM)
    bound = 2 * n * n / 8 / ceiling("copy", TEAM, "dram")
    row(f"gol temporal {n}: a generation faster than a pass over memory", bound / (seconds / generations), "x", 1)


def kmeans():
    """A multiply-add for each coordinate of each cluster; every loop reads all objects."""
    size = "size=256 coords=16 clusters=16 loops=10"
    seconds, _, work = best("kmeans", size, over("block", (64, 256, 1024), "variant=blocked"), TEAM)
    memory, terms = work["bytes"] / ceiling("read", TEAM, "dram"), 2 * work["ops"] / ceiling("fp64", TEAM)
    print(f"     least time by memory {1e3 * memory:.4g} ms, by arithmetic {1e3 * terms:.4g} ms", file=sys.stderr)
    row(f"kmeans blocked {{256,16,16,10}}, {TEAM} threads: share of the bound", max(memory, terms) / seconds, "", 0.7)


def quake():
    configs = ["variant=fused skip=yes"] + [f"variant=temporal skip=yes depth={d} block={b}" for d in (4, 8, 16) for b in (128, 512)]
    sweeps, _, _ = best("quake", "n=1024 steps=32", ["variant=rows border=halo"], TEAM)
    fastest, _, _ = best("quake", "n=1024 steps=32", configs, TEAM)
    row(f"quake 1024, {TEAM} threads: best over rows with a halo", sweeps / fastest, "x", 3)


def cc(graph):
    """Of reading every end of an edge and every label once; there is no bar, as labels are read in no order."""
    seconds, _, work = best("cc", f"graph={graph} n={1 << 20}", over("rounds", (1, 2, 3), "variant=afforest"), TEAM)
    share = work["bytes"] / ceiling("read", TEAM, "dram") / seconds
    rows.append(figure(f"cc afforest {graph} 2^20: share of reading all edges once", share, "", "> 0", share > 0))


PARTS = {"fw": fw, "gol": gol, "temporal": gol_temporal, "kmeans": kmeans, "quake": quake, "cc": lambda: (cc("rgg"), cc("rmat"))}
unknown = set(sys.argv[1:]) - set(PARTS)
if unknown:
    sys.exit(f"no part {', '.join(sorted(unknown))}: {' '.join(PARTS)}")
for part in sys.argv[1:] or PARTS:
    PARTS[part]()
finish(rows)

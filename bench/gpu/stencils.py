# SPDX-License-Identifier: GPL-3.0-or-later
"""Earthquakes against a launch a step, life against what memory allows."""
from device import grid, row

STEPS = 100000
STEPWISE = grid("variant=per_step reduction={r} tile={t} block_size_x=32 block_size_y=8", r=("shared", "shuffle"),
                t=("global", "shared"))
PERSISTENT = grid("variant=persistent rows={r} depth={d}", r=(4, 8, 16), d=(4, 8, 16))


def quake(device, limits, rows):
    for n in (256, 512, 1024):
        plain = device.best("quake", f"n={n} steps={STEPS // 10}", STEPWISE, samples=1, verify=False)
        plain = device.best("quake", f"n={n} steps={STEPS}", [plain[1]], samples=1, verify=False)
        name = f"quake {n}, {STEPS} steps, "
        row(rows, name + "a launch a step", plain[0], "s", STEPS * limits["launch"], config=plain[1])
        fast = device.best("quake", f"n={n} steps={STEPS // 10}", PERSISTENT, samples=1, verify=False)
        fast = device.best("quake", f"n={n} steps={STEPS}", [fast[1]], samples=2, verify=False)
        device.trial("quake", f"n={n} steps=200", fast[1], samples=1)
        row(rows, name + "persistent", fast[0], "s", config=fast[1])
        row(rows, f"quake {n}: persistent over a launch a step", plain[0] / fast[0], "x", None, (">=", 10) if n == 1024 else None)
    device.drop()


def gol(device, limits, rows):
    for n in (16384, 65536):
        problem, generations = f"n={n} generations=20", 20
        limit = n * n / 4 / limits["copy"]
        byte = device.best("gol", problem, ["variant=byte", "variant=byte_shared"], samples=2, verify=False)
        row(rows, f"gol {n} byte, a generation", byte[0] / generations, "s", 2 * n * n / limits["copy"])
        shapes = grid("variant=bits word={w} rows={r} block_size_x={x} block_size_y={y} neighbours={m}", w=(64, 128), r=(4, 8),
                      x=(32, 64), y=(4, 8), m=("loads", "shuffles"))
        bits = device.best("gol", problem, shapes, samples=3, verify=False)
        device.trial("gol", "n=4000 generations=20", bits[1], samples=1)
        row(rows, f"gol {n} bits, a generation", bits[0] / generations, "s", limit, config=bits[1])
        row(rows, f"gol {n} bits: share of its limit", limit * generations / bits[0], "", 1, (">=", 0.6))
        temporal = device.best("gol", f"n={n} generations=64",
                               grid("variant=bits_temporal word={w} depth={d} strip={s} block_size_x=32 block_size_y=4",
                                    w=(32, 64), d=(4, 8), s=(256, 512)), samples=3, verify=False)
        device.trial("gol", "n=4000 generations=64", temporal[1], samples=1)
        row(rows, f"gol {n} bits_temporal, a generation", temporal[0] / 64, "s", limit, config=temporal[1])
        device.drop()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Floyd-Warshall beside the measured peak of add+min, and ECL-APSP on the same model of GPU."""
from device import grid, row

TILES = "variant=register block=128 tile_m={m} tile_n={n} stages=2 unroll=8 lookahead=yes gpus=1"
REGISTER = grid(TILES, m=(8, 16), n=(8, 16))[:3]
PEER = {5000: 0.0203, 15000: 0.484, 25000: 2.209}  # ECL-APSP, H100, seconds
WANTED = {25000: 1.28}


def measure(device, limits, rows):
    for n in (5000, 11000, 15000, 20000, 25000):
        limit = n ** 3 / limits["addmin"]
        for variant in ("factor32", "factor64"):
            found = device.best("fw", f"n={n}", [f"variant={variant}"], samples=1, verify=False)
            row(rows, f"fw {n} {variant}", found[0], "s", limit)
        found = device.best("fw", f"n={n}", REGISTER, samples=3, verify=False)
        device.trial("fw", f"n={n}", found[1], samples=1)
        wanted = [w for w in (PEER.get(n), WANTED.get(n)) if w]
        row(rows, f"fw {n} register", found[0], "s", limit, ("<=", min(wanted)) if wanted else None, config=found[1],
            share=limit / found[0], peer_s=PEER.get(n))
        device.drop()
    row(rows, "fw 25000 register: share of the add+min peak", rows[-1]["share"], "", 1, (">=", 0.75))
    n = 11000
    for host in ("pinned", "pageable"):
        found = device.best("fw", f"n={n} timed=all", [f"{REGISTER[0]} host={host}"], samples=2, verify=False)
        row(rows, f"fw {n} register with copies, {host}", found[0], "s",
            n ** 3 / limits["addmin"] + 4 * n * n * (1 / limits["upload"] + 1 / limits["download"]),
            figures={f["name"]: f["value"] for f in found[2]["figures"]})
    found = device.best("fw", "n=20000 type=int16", REGISTER[:1], samples=2, verify=False)
    row(rows, "fw 20000 register int16", found[0], "s", 20000 ** 3 / limits["addmin2"])
    device.drop()


def several(device, limits, rows):
    """Two GPUs against one."""
    n, times = 34921, {}
    for gpus in (1, 2):
        configs = [config.replace("gpus=1", f"gpus={gpus}") for config in REGISTER[:2]]
        found = device.best("fw", f"n={n}", configs, samples=3, verify=False)
        times[gpus] = found[0]
        row(rows, f"fw {n} register, {gpus} GPU(s)", found[0], "s", n ** 3 / limits["addmin"] / gpus, config=found[1])
        device.trial("fw", f"n={n}", found[1], samples=1)
    row(rows, f"fw {n}: two GPUs over one", times[1] / times[2], "x", 2, (">=", 1.8))

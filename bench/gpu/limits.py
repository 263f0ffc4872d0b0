# SPDX-License-Identifier: GPL-3.0-or-later
"""What the device can do at most, measured in the same process as what is held against it."""
from device import grid, row

SHAPES = grid("block={b} per_sm={p}", b=(512, 1024), p=(2, 8))


def best(device, what, n, configs, figure, samples=5):
    found = device.best("ceiling", f"what={what} n={n}", configs, samples=samples)
    return {f["name"]: f["value"] for f in found[2]["figures"]}[figure] if found else float("nan")


def measure(device, rows):
    """bytes/s, pairs/s, flop/s and seconds."""
    out = {}
    for what in ("read", "copy", "triad"):
        out[what] = 1e9 * best(device, what, 1 << 32, SHAPES, "bandwidth")
    for what in ("upload", "download", "upload_pageable", "download_pageable"):
        out[what] = 1e9 * best(device, what, 1 << 28, [""], "bandwidth")
    for what, n in (("addmin", 200000), ("addmin2", 30000), ("fp32", 200000), ("fp64", 200000)):
        out[what] = 1e9 * best(device, what, n, SHAPES, "rate")
    for what in ("launch", "round_trip"):
        out[what] = 1e-6 * best(device, what, 2000, [""], "cost")
    out["barrier"] = 1e-6 * best(device, "barrier", 2000, ["block=256 per_sm=1"], "cost")
    for name, value in out.items():
        unit = "s" if value < 1 else "/s"
        row(rows, f"limit: {name}", value, ("B" if name[:4] in ("read", "copy", "tria", "uplo", "down") else "") + unit)
    device.drop()
    return out

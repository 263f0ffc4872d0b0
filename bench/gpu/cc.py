# SPDX-License-Identifier: GPL-3.0-or-later
"""Connected components beside reading every edge once, and ECL-CC on the same model of GPU."""
from device import grid, row

GRAPHS = [  # what, the peer's seconds, is label propagation done on it in time?
    ("graph=kmer n=64000000", 9.13e-3, False), ("graph=rgg n=16777216", 8.90e-3, True),
    ("graph=queen n=4147110 degree=80", 4.39e-3, True), ("graph=rmat n=16777216", 26.2e-3, True)]
ROWS = [("thread", "variant=rows group=1"), ("warp", "variant=rows group=32"), ("block", "variant=rows group=0")]
FAST = (grid("variant=afforest rounds={r} link=splice group={g}", r=(1, 2), g=(4, 32)) +
        ["variant=afforest rounds=2 link=splice edges=smaller block_size=1024", "variant=union_find link=splice",
         "variant=contract windows=3"])


def measure(device, limits, rows):
    for graph, peer, propagation in GRAPHS:
        name = graph.split()[0][6:]
        found = device.best("cc", graph, FAST, samples=5, verify=False)
        answer = device.trial("cc", graph, found[1], samples=1)
        figures = {f["name"]: f["value"] for f in answer["figures"]} if answer else {}
        limit = figures.get("edge_bytes", 0) / limits["read"]
        row(rows, f"cc {name}: fastest", found[0], "s", limit, ("<=", peer), config=found[1], figures=figures)
        small = graph if propagation else "graph=kmer n=1048576"
        for per, config in ROWS:
            found = device.best("cc", small, [config], samples=1, verify=False)
            if found:
                figures = {f["name"]: f["value"] for f in found[2]["figures"]}
                row(rows, f"cc {small.split(' degree')[0][6:]}: a {per} a row", found[0], "s", figures=figures)
        device.drop()

# SPDX-License-Identifier: GPL-3.0-or-later
"""Sorted lists: throughput of every variant beside what walking alone allows, on mixes and sizes, by one and two threads.

SAMPLES (21) runs of each; OPS (20000 by 1024 nodes, fewer for more nodes) operations a run."""
import os
import sys

from common import call, figure, finish

SAMPLES = os.environ.get("SAMPLES", "21")
OPS = int(os.environ.get("OPS", "20000"))
VARIANTS = ("serial", "coarse", "fine", "optimistic", "lazy", "nonblocking")
MIXES = ((100, 0, 0), (80, 10, 10), (20, 40, 40), (0, 50, 50))
SIZES = (1024, 8192)
GOAL = 0.75  # of the limit, for those whose contains only reads


def wanted(variant, threads, mix, size):
    return variant in ("lazy", "nonblocking") and threads == 2 and mix == MIXES[0] and size == SIZES[0]


def measure(mix, size):
    """One sweep: {(variant, threads): figures}."""
    problem = f"n={size},ops={OPS * 1024 // size},contains={mix[0]},add={mix[1]},remove={mix[2]}"
    document = call("sweep", "lists", "--over", "variant=" + ",".join(VARIANTS), "--over", "threads=1,2", "-s", problem,
                    "-n", SAMPLES, "--no-store", "--quiet")
    return {(row["config"]["variant"], row["config"]["threads"]): {f["name"]: f["value"] for f in row["figures"]}
            for row in document["rows"] if row["status"] == "correct"}


def row_of(variant, threads, mix, size, figures):
    limit = figures["traversal_limit"]
    share = figures["throughput"] / limit
    goal = GOAL if wanted(variant, threads, mix, size) else 0
    name = f"lists n={size} {'/'.join(map(str, mix))} {variant}, {threads} thread{'s' if threads > 1 else ''}"
    row = figure(name, figures["throughput"], "Kops/s", f"{f'>= {100 * goal:.0f} % of ' if goal else 'limit'} {limit:.5g}",
                 share >= goal)
    row.update(n=size, mix=mix, variant=variant, threads=threads, limit=limit, of_limit=share)
    return row


def table(rows):
    """A line a variant and number of threads, a column a mix and size: Kops/s and the share of the limit."""
    columns = [(size, mix) for size in SIZES for mix in MIXES]
    print(f"{'Kops/s (% of limit)':22}" + "".join(f"{size:>6} {'/'.join(map(str, mix)):10}" for size, mix in columns),
          file=sys.stderr)
    for threads in (1, 2):
        for variant in VARIANTS:
            cells = {(row["n"], row["mix"]): row for row in rows if (row["variant"], row["threads"]) == (variant, threads)}
            if cells:
                print(f"{variant + ' x' + str(threads):22}" + "".join(
                    f"{cells[c]['value']:7.0f} ({100 * cells[c]['of_limit']:3.0f} %) " for c in columns), file=sys.stderr)


rows = [row_of(variant, threads, mix, size, figures) for size in SIZES for mix in MIXES
        for (variant, threads), figures in measure(mix, size).items()]
table(rows)
finish(rows)

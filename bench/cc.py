# SPDX-License-Identifier: GPL-3.0-or-later
"""Connected components: ns an edge of every variant on two graphs of 2^20 vertices, and the share of the time that reading
every edge once would take at the bandwidth measured here. Above 1, a variant reads less than every edge.

GRAPHS (rgg,rmat), N (1048576), SAMPLES (11), THREADS (all)."""
import multiprocessing
import os
import sys
import time

from common import call, figure, finish

GRAPHS = os.environ.get("GRAPHS", "rgg,rmat").split(",")
N = os.environ.get("N", str(1 << 20))
SAMPLES = os.environ.get("SAMPLES", "11")
THREADS = int(os.environ.get("THREADS", len(os.sched_getaffinity(0))))
BLOCK = 1 << 27
PARALLEL = (("rows",), ("jump",), ("afforest", "link=hook"), ("afforest", "link=splice"))
VARIANTS = ((("serial",), 1), *((variant, 1) for variant in PARALLEL[2:]),
            *((variant, THREADS) for variant in PARALLEL if THREADS > 1))


def copy(start):
    """Seconds of the fastest of some copies."""
    block, target, fastest = bytearray(BLOCK), bytearray(BLOCK), float("inf")
    view = memoryview(target)
    start.wait()
    for _ in range(9):
        begun = time.perf_counter()
        view[:] = block
        fastest = min(fastest, time.perf_counter() - begun)
    return fastest


def copy_rate(threads):
    """Bytes a second, read and written, while so many copy at once."""
    with multiprocessing.Manager() as manager, multiprocessing.Pool(threads) as pool:
        start = manager.Barrier(threads)
        return sum(2 * BLOCK / seconds for seconds in pool.map(copy, [start] * threads, chunksize=1))


def measure(graph, variant, threads):
    """The figures of one configuration, with the least time of its samples in ns."""
    document = call("run", "cc", "-s", f"n={N},graph={graph}", f"variant={variant[0]}", *variant[1:], f"threads={threads}",
                    "-n", SAMPLES, "--quiet")
    figures = {f["name"]: f["value"] for f in document["figures"]}
    return figures, 1e9 * min(document["samples"])


def row_of(graph, variant, threads):
    figures, ns = measure(graph, variant, threads)
    once = 1e9 * figures["edge_bytes"] / RATES[threads]
    name = f"{graph} {' '.join(variant)}, {threads} thread{'s' if threads > 1 else ''}"
    row = figure(name, ns / figures["edges"], "ns/edge", f"{once / figures['edges']:.3g} to read every edge once", True)
    row.update(graph=graph, variant=variant[0], threads=threads, edges=figures["edges"], ns=ns, read_once_ns=once,
               of_bound=once / ns, iterations=figures["iterations"], looked=figures["looked"])
    return row


def table(rows):
    print(f"{'':36}{'ms':>9} {'ns/edge':>9} {'of bound':>9} {'looked at':>9} {'iterations':>10}", file=sys.stderr)
    for row in rows:
        print(f"{row['name']:36}{1e-6 * row['ns']:9.3f} {row['value']:9.3f} {row['of_bound']:9.2f} {row['looked']:9.3f} "
              f"{row['iterations']:10.0f}", file=sys.stderr)


RATES = {threads: copy_rate(threads) for threads in sorted({1, THREADS})}
rows = [row_of(graph, variant, threads) for graph in GRAPHS for variant, threads in VARIANTS]
table(rows)
finish([figure(f"bandwidth of copies by {threads}", 1e-9 * rate, "GB/s", "-", True) for threads, rate in RATES.items()] + rows)

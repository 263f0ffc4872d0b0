# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrix multiplication: our variants with one thread and two, beside OpenBLAS's sgemm (called with ctypes; left
out where it is not installed). Rounds of all in turn, the least time of each: on a busy machine the mean would show the neighbours."""
import array
import ctypes
import ctypes.util
import os
import random
import sys
import time

from common import call, figure, finish

ROUNDS, N = int(os.environ.get("ROUNDS", "5")), int(os.environ.get("N", "1024"))
CONFIGS = ["variant=naive", "variant=rows", "variant=tiled block=128 depth=128"]
CONFIGS += [f"variant=simd block={block} depth={depth}" for block in (64, 128, 256) for depth in (256, 512)]


def ours(config, threads):
    said = call("run", "gemm", f"n={N}", f"threads={threads}", "--samples", "5", *config.split())
    return min(said["samples"])


class OpenBlas:
    ROW_MAJOR, NO_TRANSPOSE = 101, 111

    def __init__(self):
        self.library = ctypes.CDLL(ctypes.util.find_library("openblas"))
        # Random numbers, because zeros are faster on some processors.
        self.matrices = [(ctypes.c_float * (N * N)).from_buffer(array.array("f", (random.random() for _ in range(N * N)))) for _ in range(3)]

    def __call__(self, threads):
        a, b, c = self.matrices
        self.library.openblas_set_num_threads(threads)
        begun = time.perf_counter()
        self.library.cblas_sgemm(self.ROW_MAJOR, self.NO_TRANSPOSE, self.NO_TRANSPOSE, N, N, N, ctypes.c_float(1), a, N, b, N,
                                 ctypes.c_float(0), c, N)
        return time.perf_counter() - begun


theirs = OpenBlas() if ctypes.util.find_library("openblas") else None
rows = []
for threads in (1, 2):
    times = {config: [] for config in CONFIGS}
    peer = []
    for _ in range(ROUNDS):
        for config, samples in times.items():
            samples.append(ours(config, threads))
        peer += [theirs(threads) for _ in range(3)] if theirs else []
    least = {config: min(samples) for config, samples in times.items()}
    for config, seconds in least.items():
        print(f"  {threads} thread(s) {config:40} {2e-9 * N**3 / seconds:8.1f} GFLOP/s", file=sys.stderr)
        rows.append({"name": f"gemm, {threads} thread(s), {config}", "value": 2e-9 * N**3 / seconds, "unit": "GFLOP/s"})
    best = min(least, key=least.get)
    if peer:
        ratio = min(peer) / least[best]
        print(f"  {threads} thread(s) OpenBLAS {2e-9 * N**3 / min(peer):40.1f} GFLOP/s", file=sys.stderr)
        rows.append(figure(f"gemm, {threads} thread(s), {best} over OpenBLAS", ratio, "x", ">= 0.7", ratio >= 0.7))
finish(rows)

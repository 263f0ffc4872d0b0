# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrix multiplication: each variant in a few shapes, verified, beside the fastest that cublasLt proposes for the same types
(sums and result in f32; f32 without TF32, f8 with one matrix transposed). N=8192 in the environment measures another size."""
import math
import os
import statistics
import sys
import time

import cublas
from device import DEVICE, grid, row

ROUNDS, PAUSE, BURST = 6, 0.5, 20e-3  # of the comparison; seconds before and during a measurement
N = int(os.environ.get("N", "4096"))
WARP = "variant=warp block_m={m} block_n={n} block_k=16 thread_m={tm} thread_n={tn} buffers={b} group={g}"
MMA = "variant=mma block_m={m} block_n={n} warp_m={wm} warp_n={wn} depth={d} buffers={b} group=16"
WGMMA = "variant=wgmma block_m={m} block_n={n} buffers=4 cluster={c} group={g} swizzle=128"
CONFIGS = {
    "simple": ["variant=simple block_size_x=32 block_size_y=8"],
    "shared": ["variant=shared tile=32"],
    "warp": ([WARP.format(m=m, n=n, tm=tm, tn=tn, b=b, g=g) for m, n, tm, tn in
              ((128, 128, 8, 8), (256, 128, 8, 8), (256, 128, 16, 8), (128, 256, 8, 16), (128, 128, 16, 8), (128, 128, 8, 16))
              for b in (2, 3) for g in (1, 16)]),
    "mma": ([MMA.format(m=m, n=n, wm=wm, wn=wn, d=d, b=b) for m, n, wm, wn in
             ((128, 128, 64, 64), (256, 128, 64, 64), (128, 256, 64, 64), (128, 128, 64, 32))
             for d, b in ((32, 3), (32, 4), (64, 3))]),
    "wgmma": grid(WGMMA, m=(256,), n=(128,), c=(1, 2), g=(1, 4, 16)),
    "wgmma wide": grid(WGMMA, m=(128,), n=(256,), c=(1, 2), g=(1, 4, 16)),
}
KINDS = {"f32": ("simple", "shared", "warp"), "f16": ("simple", "shared", "mma", "wgmma", "wgmma wide"),
         "bf16": ("mma", "wgmma", "wgmma wide"), "tf32": ("wgmma",), "f8": ("simple", "wgmma")}
WANTED = {"f32": 0.8, "f16": 0.85, "bf16": 0.85, "tf32": 0.85, "f8": 0.85}


def in_turns(device, problem, config, peer):
    """Medians of cuBLAS and of ours, in turns, each after a pause, so that heat and the power cap meet both alike."""
    launches = max(1, round(BURST / peer.seconds(3)))

    def theirs():
        peer.seconds(1)
        return peer.seconds(launches)

    def ours():
        answer = device.trial("gemm", problem, config, samples=1, min_sample_s=BURST, verify=False)
        return answer["samples"][0] if answer else math.nan

    took = {theirs: [], ours: []}
    for turn in range(ROUNDS):
        for one in (theirs, ours)[::1 if turn % 2 else -1]:
            time.sleep(PAUSE)
            took[one].append(one())
    return statistics.median(took[theirs]), statistics.median(took[ours])


def measure(device, limits, rows):
    flops = 2 * N ** 3
    for kind, variants in KINDS.items():
        problem = f"n={N}" if kind == "f32" else f"n={N} type={kind}"
        found = {}
        for variant in variants:
            found[variant] = device.best("gemm", problem, CONFIGS[variant], samples=9, min_sample_s=2e-3)
        found = {variant: some for variant, some in found.items() if some}
        peer = cublas.peer_of(N, kind, device=int(DEVICE.split(":")[-1]))
        for variant, (seconds, config, _) in found.items():
            row(rows, f"gemm {N} {kind} {variant}", seconds, "s", config=config, TFLOPs=flops / seconds * 1e-12)
        if peer and found:
            config = min(found.values())[1]
            theirs, ours = in_turns(device, problem, config, peer)
            row(rows, f"gemm {N} {kind} cuBLAS", theirs, "s", TFLOPs=flops / theirs * 1e-12)
            row(rows, f"gemm {N} {kind} in turns with it", ours, "s", theirs, config=config, TFLOPs=flops / ours * 1e-12)
            wanted = (">=", WANTED[kind]) if kind in WANTED else None
            row(rows, f"gemm {N} {kind}: rate over cuBLAS's", theirs / ours, "x", 1, wanted)
            peer.close()
        device.drop()


def table(rows, out=sys.stdout):
    for some in rows:
        if some["unit"] == "s":
            against = f"{some['limit'] / some['value']:7.1%} of cuBLAS" if some["limit"] else ""
            print(f"{some['name']:32} {1e3 * some['value']:9.4f} ms {some['TFLOPs']:7.1f} TFLOP/s {against}"
                  f"  {some.get('config', '')}", file=out)

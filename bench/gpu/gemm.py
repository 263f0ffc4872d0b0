# SPDX-License-Identifier: GPL-3.0-or-later
"""Matrix multiplication: each variant in a few shapes, verified, beside cuBLAS for the same types (sums and result in f32;
f32 without TF32, f8 by cublasLt, which wants one matrix transposed). N=8192 in the environment measures another size."""
import os
import sys

import cublas
from device import DEVICE, grid, row

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


def measure(device, limits, rows):
    flops = 2 * N ** 3
    for kind, variants in KINDS.items():
        problem = f"n={N}" if kind == "f32" else f"n={N} type={kind}"
        found = {}
        for variant in variants:
            found[variant] = device.best("gemm", problem, CONFIGS[variant], samples=9, min_sample_s=2e-3)
        device.drop()
        peer = cublas.best(N, kind, device=int(DEVICE.split(":")[-1]))
        if peer:
            row(rows, f"gemm {N} {kind} cuBLAS", peer, "s", TFLOPs=flops / peer * 1e-12)
        found = {variant: some for variant, some in found.items() if some}
        for variant, (seconds, config, _) in found.items():
            row(rows, f"gemm {N} {kind} {variant}", seconds, "s", peer, config=config, TFLOPs=flops / seconds * 1e-12)
        if peer and found:
            least = min(some[0] for some in found.values())
            wanted = (">=", WANTED[kind]) if kind in WANTED else None
            row(rows, f"gemm {N} {kind}: rate over cuBLAS's", peer / least, "x", 1, wanted)


def table(rows, out=sys.stdout):
    for some in rows:
        if some["unit"] == "s":
            against = f"{some['limit'] / some['value']:7.1%} of cuBLAS" if some["limit"] else ""
            print(f"{some['name']:32} {1e3 * some['value']:9.4f} ms {some['TFLOPs']:7.1f} TFLOP/s {against}"
                  f"  {some.get('config', '')}", file=out)

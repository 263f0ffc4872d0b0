# SPDX-License-Identifier: GPL-3.0-or-later
"""k-means: the reports' versions with their curves over the block size, and the fastest beside what bounds it.

Per loop. The bound is the larger of reading the objects once and of two multiply-adds' worth of operations (a
multiply-add a coordinate and cluster). The peer is flash-kmeans (Triton) on the same model of GPU."""
from device import grid, row

PROBLEMS = [  # size, coords, clusters, type, the peer's seconds a loop
    (1024, 32, 64, "f64", 1.19e-3), (1024, 2, 64, "f64", 10.0e-3),
    (256, 16, 16, "f32", 0.558e-3), (256, 2, 16, "f32", 3.43e-3)]
VERSIONS = ("naive", "transpose", "shared", "all_gpu", "partial")
BLOCKS = (32, 100, 128, 256, 512, 1024)
FAST = {  # by coordinates: one pass a loop, in the shapes that are worth a try
    32: grid("variant=tensor block={b} launch=graph", b=(128, 256)) + ["variant=fused points=2 block=128"],
    16: grid("variant=fused points={p} block={b} launch=graph", p=(2, 4), b=(256, 512)),
    2: (grid("variant=bounds points={p} block={b} cells=128", p=(4, 8), b=(512, 768, 1024)) +
        ["variant=fused points=8 block=768 launch=graph", "variant=fused points=8 group=8 block=256 launch=graph"])}
CURVE_LOOPS, LOOPS = 2, 10


def curves(device, problem, rows, label):
    for version in VERSIONS:
        curve = []
        for block in BLOCKS:
            answer = device.trial("kmeans", f"{problem} loops={CURVE_LOOPS}", f"variant={version} block={block}", samples=1,
                                  verify=False)
            if answer:
                figures = {f["name"]: f["value"] for f in answer["figures"]}
                curve.append({"block": block, "s": min(answer["samples"]) / CURVE_LOOPS,
                              **{k: figures.get(k, 0) / CURVE_LOOPS for k in ("gpu_s", "transfer_s", "cpu_s")}})
        if curve:
            row(rows, f"kmeans {label} {version}, a loop", min(c["s"] for c in curve), "s", curve=curve)


def measure(device, limits, rows):
    for size, coords, clusters, kind, peer in PROBLEMS:
        width = 8 if kind == "f64" else 4
        objects = size * 2 ** 20 / width / coords
        problem = f"coords={coords} clusters={clusters} type={kind}"
        label = f"{{{size},{coords},{clusters}}} {kind}"
        curves(device, f"size={size} {problem}", rows, label)
        found = device.best("kmeans", f"size={size} {problem} loops={LOOPS}", FAST[coords], samples=5, verify=False)
        device.drop()
        device.trial("kmeans", f"size=64 {problem} loops={LOOPS}", found[1], samples=1)
        device.drop()
        flops = 2 * objects * clusters * coords
        bound = max(size * 2 ** 20 / limits["read"], flops / limits["fp64" if kind == "f64" else "fp32"])
        row(rows, f"kmeans {label} fastest, a loop", found[0] / LOOPS, "s", bound, ("<=", peer), config=found[1])
        row(rows, f"kmeans {label}: share of its bound", bound * LOOPS / found[0], "", 1, (">=", 0.6))

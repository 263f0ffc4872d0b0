# SPDX-License-Identifier: GPL-3.0-or-later
"""auto with 15 % of the evaluations against all of them, on spaces that can be measured whole."""
import json
import os
import subprocess
import sys
import tempfile

from device import DEVICE, row

PROGRAM = os.environ.get("SWEETSPOT", os.path.join(os.environ.get("BUILDDIR", "build"), "sweetspot"))
SPACES = {
    "fw": ("n=2000", ["variant=register", "gpus=1"], []),
    "gol": ("n=8192,generations=20", ["variant=bits", "neighbours=loads"], ["block_size_y=1,2,4,8", "rows=1,2,4,8"]),
    "quake": ("n=512,steps=500", ["variant=deferred"], ["block_size_x=16,32,64,128", "block_size_y=2,4,8"]),
    "kmeans": ("size=64,coords=16,clusters=16,type=f32", ["launch=queued", "per_sm=0"],
               ["variant=all_gpu,partial,fused", "block=64,128,192,256,384,512"]),
    "cc": ("graph=rmat,n=1048576", ["variant=afforest", "samples=1024", "hub=1024", "compress=full"],
           ["group=1,4,8,32", "rounds=1,2,3"]),
}


def tune(kernel, strategy, budget, folder):
    size, held, ranges = SPACES[kernel]
    sizes = [word for part in size.split(",") for word in ("--size", part)]
    store = os.path.join(folder, f"{kernel}-{strategy}.db")
    command = [PROGRAM, "tune", kernel, "--device", DEVICE, *sizes, "--strategy", strategy, "--budget", f"{budget}e",
               "--json", "--seed", "1", "--counters", "none", "--store", store]
    for word in held:
        command += ["--set", word]
    for word in ranges:
        command += ["--range", word]
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return None
    return json.loads(done.stdout)["results"][0]


def beside(device, kernel, one, other):
    """How much slower one configuration is than the other: the least of their samples, taken in turns."""
    problem = SPACES[kernel][0].replace(",", " ")
    times = {}
    for _ in range(5):
        for config in (one, other):
            text = " ".join(f"{k}={v}" for k, v in config.items())
            answer = device.trial(kernel, problem, text, samples=3, verify=False, min_sample_s=0.001)
            times.setdefault(text, []).append(min(answer["samples"]))
    lists = list(times.values())
    return min(lists[0]) / min(lists[-1])


def measure(device, _limits, rows):
    with tempfile.TemporaryDirectory() as folder:
        for kernel in os.environ.get("KERNELS", " ".join(SPACES)).split():
            whole = tune(kernel, "grid", 100000, folder)
            if not whole:
                continue
            count = whole["space"]["valid"]
            part = tune(kernel, "auto", max(5, int(0.15 * count)), folder)
            ratio = beside(device, kernel, part["best"]["config"], whole["best"]["config"])
            name = f"{kernel}: auto after {part['evaluations']} of {count}, over the best of all"
            row(rows, name, ratio, "x", 1, ("<=", 1.02), best=whole["best"]["config"], found=part["best"]["config"],
                whole_s=whole["elapsed_s"], part_s=part["elapsed_s"])
        device.drop()

# SPDX-License-Identifier: GPL-3.0-or-later
"""What a trial costs beyond compiling and running: the pipe, the worker, NVML."""
import statistics
import time

from device import row, words, DEVICE


def measure(device, _limits, rows):
    problem, times = {"n": 64, "generations": 100}, {"a kept state": [], "a new state": []}
    shapes = [(x, y) for x in (16, 32, 64, 128) for y in (1, 2, 4, 8)]
    for again in range(3):
        for x, y in shapes:
            request = {"op": "trial", "kernel": "gol", "device": DEVICE, "problem": problem, "samples": 5, "warmup": 0,
                       "min_sample_s": 0, "verify": False,
                       "config": words(f"variant=byte block_size_x={x} block_size_y={y}")}
            start = time.perf_counter()
            answer = device.ask(request)
            wall = time.perf_counter() - start
            setup = answer["setup_s"]
            ran = sum(answer["samples"]) + (answer["samples"][0] if setup else 0)  # a new batch is found by a run
            times["a new state" if setup else "a kept state"].append(wall - ran - answer["gpu"].get("compile_s", 0))
    for name, some in times.items():
        if some:
            row(rows, f"a trial on {name}, beyond compiling and running", statistics.median(some), "s", None, ("<=", 2e-3),
                worst=max(some), trials=len(some))

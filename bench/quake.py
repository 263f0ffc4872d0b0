# SPDX-License-Identifier: GPL-3.0-or-later
"""Earthquakes on 1024 x 1024 cells: the course project's OpenMP program (separate sweeps over rows with a halo) against one
pass a step and several steps a pass, with one thread and two. Rounds of all configurations in turn, the least time of each:
on a busy machine the mean would show the neighbours."""
import os
import sys

from common import call, figure, finish

ROUNDS, STEPS = int(os.environ.get("ROUNDS", "5")), 32
BASELINE = "variant=rows border=halo"
OTHERS = ["variant=fused skip=no", "variant=fused skip=yes"]
OTHERS += [f"variant=temporal skip={skip} depth={depth} block={block}"
           for skip, depths in (("no", (4, 8)), ("yes", (4, 8, 16))) for depth in depths for block in (128, 512)]


def once(config, threads):
    """Microseconds a step."""
    said = call("run", "quake", "n=1024", f"steps={STEPS}", f"threads={threads}", "--samples", "7", *config.split())
    return 1e6 * min(said["samples"]) / STEPS


rows = []
for threads in (1, 2):
    times = {config: [] for config in (BASELINE, *OTHERS)}
    for _ in range(ROUNDS):
        for config, samples in times.items():
            samples.append(once(config, threads))
    least = {config: min(samples) for config, samples in times.items()}
    print(f"threads={threads}", file=sys.stderr)
    for config, time in least.items():
        print(f"  {config:44} {time:9.1f} us a step {1024 * 1024 / time:9.1f} Mupdates/s {least[BASELINE] / time:6.2f} x",
              file=sys.stderr)
        rows.append({"name": f"quake, {threads} thread(s), {config}", "value": time, "unit": "us/step"})
    best = min(OTHERS, key=least.get)
    gain = least[BASELINE] / least[best]
    rows.append(figure(f"quake, {threads} thread(s), {best}", gain, "x", ">= 3 of rows with a halo", gain >= 3))
finish(rows)

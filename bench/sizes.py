# SPDX-License-Identifier: GPL-3.0-or-later
"""What `tune --sizes` says of sizes that it did not see: each of six or more is left out in turn and predicted from the
others. The error of its cost is of the law; what the recommended configuration loses against the best measured there is
asked of `compare`, in pairs of their own, not of the tuner that made the recommendation.

SECONDS: of each kernel's budget (180). Words on the command line: kernels."""
import json
import os
import sys

from common import call, figure, finish, median

SECONDS = os.environ.get("SECONDS", "180")
KERNELS = {
    "fw": ("n=48,64,96,128,192,256", []),
    "gol": ("n=128,256,512,1024,2048,4096", ["--size", "generations=20"]),
    "kmeans": ("size=1,2,3,4,6,8", ["--size", "coords=8,clusters=8,loops=5"]),
}


def words(settings):
    return " ".join(f"{name}={value}" for name, value in settings.items())


def loss(kernel, problem, recommended, best):
    """Of the recommended configuration against the best measured there; 0 where it is the best, or not slower."""
    if recommended == best:
        return 0.0
    said = call("compare", kernel, *words(problem).split(), words(recommended), words(best), "--pairs", "31", "--max-pairs", "61")
    return max(0.0, said["ratio"] - 1)


def check(kernel):
    sizes, size = KERNELS[kernel]
    said = call("tune", kernel, "--sizes", sizes, *size, "--budget", f"{SECONDS}s", "--seed", "1", "--counters", "none")["sizes"][0]
    out, losses = said["leave_one_out"], []
    for one, measured in zip(said["checked"], said["measured"]):
        problem = dict(said["problem"], **{said["over"]: one["size"]})
        lost = loss(kernel, problem, one["config"], measured["config"]) if one["works"] is not False else float("inf")
        losses.append(lost)
        print(f"     {kernel} {said['over']}={one['size']}: {one['measured']:.4g} s, predicted {one['predicted']:.4g} s; "
              f"{words(one['config'])} loses {100 * lost:.1f} %", file=sys.stderr, flush=True)
    law = said["laws"][0]
    print(f"     {kernel}: {law['law']}, {json.dumps(law['pieces'])}", file=sys.stderr)
    name = f"{kernel}, {len(losses)} sizes"
    return [figure(f"{name}: error of a size left out, median", out["median_error"], "", "< 0.15", out["median_error"] < 0.15),
            figure("  at worst", out["worst_error"], "", "-", True),
            figure(f"{name}: loss of what is recommended for it, median", median(losses), "", "<= 0.03", median(losses) <= 0.03),
            figure("  at worst", max(losses), "", "-", True),
            figure("  ranges", len(said["thresholds"]), "", "-", True)]


unknown = set(sys.argv[1:]) - set(KERNELS)
if unknown:
    sys.exit(f"no kernel {', '.join(sorted(unknown))}: {' '.join(KERNELS)}")
finish([row for kernel in sys.argv[1:] or KERNELS for row in check(kernel)])

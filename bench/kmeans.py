# SPDX-License-Identifier: GPL-3.0-or-later
"""Lloyd's iteration beside scikit-learn's: the same objects, the same first centres, as many threads, in turn. Both are
timed by the difference of a long and a short run, which leaves out what is paid once (scikit-learn's checks and copies).
Nothing where scikit-learn is not installed; PYTHON names an interpreter that has it."""
import json
import os
import subprocess
import sys
import time

N, COORDS, CLUSTERS = 1000000, 16, 16
SHORT, LONG, ROUNDS, SEED = 2, 12, 7, 1


def objects(np):
    """What kernels/kmeans/objects.c makes: splitmix64 of each number, its upper 12 bits as a fraction."""
    number = np.arange(1, N * COORDS + 1, dtype=np.uint64)
    z = np.uint64(SEED) + number * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
    return ((z ^ z >> np.uint64(31)) >> np.uint64(52)).astype(np.float64).reshape(N, COORDS) / 4096


def serve():
    """The other side, in a process of its own: for each line a number of iterations, the seconds of a fit."""
    import numpy as np
    import sklearn
    from sklearn.cluster import KMeans
    x = objects(np)

    def fit(loops):
        begun = time.perf_counter()
        model = KMeans(n_clusters=CLUSTERS, init=x[:CLUSTERS], n_init=1, algorithm="lloyd", max_iter=loops, tol=0)
        model.fit(x)
        return time.perf_counter() - begun, model

    # after loop LONG objects are still where the centres of loop LONG - 1 have drawn them
    membership = fit(LONG - 1)[1].labels_
    inertia = ((x - fit(LONG)[1].cluster_centers_[membership]) ** 2).sum()
    print(json.dumps({"version": sklearn.__version__, "inertia": float(inertia)}), flush=True)
    for line in sys.stdin:
        print(json.dumps(fit(int(line))[0]), flush=True)


def ask(child, request):
    child.stdin.write(json.dumps(request) + "\n")
    child.stdin.flush()
    line = child.stdout.readline()
    return json.loads(line) if line else sys.exit("the other side has ended")


def trial(worker, loops, config, verify=False):
    answer = ask(worker, {"op": "trial", "id": 1, "kernel": "kmeans", "config": config, "seed": SEED, "samples": 1,
                          "warmup": 1, "min_sample_s": 0.0, "verify": verify,
                          "problem": {"n": N, "coords": COORDS, "clusters": CLUSTERS, "loops": loops}})
    if answer["status"] not in ("correct", "unverified"):
        sys.exit(f"kmeans: {answer}")
    return answer


def interpreter():
    for python in (os.environ.get("PYTHON"), sys.executable, "/usr/bin/python3"):
        if python and subprocess.run([python, "-c", "import sklearn"], capture_output=True).returncode == 0:
            return python
    return None


def a_loop(spans):
    return (spans[1] - spans[0]) / (LONG - SHORT)


def beside(python, threads):
    from common import ENVIRONMENT, WORKER, figure, median
    team = dict(ENVIRONMENT, OMP_NUM_THREADS=str(threads), OPENBLAS_NUM_THREADS=str(threads))
    start = dict(stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    theirs = subprocess.Popen([python, os.path.abspath(__file__), "--serve"], env=team, **start)
    ours = subprocess.Popen([WORKER], env=ENVIRONMENT, **start)
    hello = json.loads(theirs.stdout.readline())
    config = {"variant": "blocked", "threads": threads}
    first = trial(ours, LONG, config, verify=True)
    rows, rounds = [], []
    for _ in range(ROUNDS):
        rounds.append([[trial(ours, loops, config)["samples"][0] for loops in (SHORT, LONG)],
                       [ask(theirs, loops) for loops in (SHORT, LONG)]])
    for child in (ours, theirs):
        child.stdin.close()
        child.wait()
    ratio = median([a_loop(other) / a_loop(own) for own, other in rounds])
    # of the least of each length: a least difference would come from a short run that was disturbed
    least = [1e3 * a_loop([min(run[side][length] for run in rounds) for length in range(2)]) for side in range(2)]
    name = f"{N} x {COORDS}, k = {CLUSTERS}, {threads} thread(s)"
    rows.append(figure(f"{name}: scikit-learn {hello['version']} / ours, median", ratio, "x", ">= 1.5", ratio >= 1.5))
    rows.append(figure(f"{name}: of the least", least[1] / least[0], "x", ">= 1.5", least[1] >= 1.5 * least[0]))
    rows.append(figure("  ours, a loop, least", least[0], "ms", "-", True))
    rows.append(figure("  scikit-learn, a loop, least", least[1], "ms", "-", True))
    for shown in first.get("figures", []):
        if shown["name"] == "inertia":
            apart = abs(shown["value"] / hello["inertia"] - 1)
            rows.append(figure("  sum of squared distances, apart", apart, "", "<= 1e-6", apart <= 1e-6))
    return rows


def main():
    from common import finish
    python, rows = interpreter(), []
    if python:
        for threads in range(1, min(2, len(os.sched_getaffinity(0))) + 1):
            rows += beside(python, threads)
    else:
        print("scikit-learn is not installed", file=sys.stderr)
    finish(rows)


if sys.argv[1:] == ["--serve"]:
    serve()
else:
    main()

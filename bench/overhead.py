# SPDX-License-Identifier: GPL-3.0-or-later
"""What a trial costs beyond the runs themselves: in a live worker the round trip less samples and warm-up, in a tuner from
the start of one trial to the start of the next less the first's samples. Of a program the samples are its start and run,
from fork to end."""
import json
import os
import sqlite3
import subprocess
import time

from common import ENVIRONMENT, FOLDER, WORKER, call, figure, finish, median

SAMPLES = 3


def spent_beyond(worker, request):
    """Seconds of the round trip that are not in the samples."""
    begun = time.perf_counter()
    worker.stdin.write(json.dumps(request) + "\n")
    worker.stdin.flush()
    answer = json.loads(worker.stdout.readline())
    spent = time.perf_counter() - begun
    assert answer["status"] == "correct", answer
    return 1e6 * (spent - sum(answer["samples"]) * answer.get("batch", 1))


def trial(worker, number, config):
    return spent_beyond(worker, {"op": "trial", "id": number, "kernel": "synthetic", "problem": {"n": 8000},
                                 "config": config, "seed": 1, "samples": SAMPLES, "warmup": 0, "min_sample_s": 0.0,
                                 "verify": True})


def program_trial(worker, number, **members):
    return spent_beyond(worker, {"op": "program", "id": number, "argv": ["/bin/echo", "rate 5"], "samples": 1, **members})


def worker_start():
    return subprocess.Popen([WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)


def tuner_trials(phase):
    """Microseconds from trial to trial of a whole `tune`, less the program's own; the store's commit is in it."""
    with sqlite3.connect(os.path.join(FOLDER.name, "overhead.db")) as store:
        trials = store.execute("select started, samples from trials where phase = ? order by id", (phase,)).fetchall()
    return [1e6 * (after[0] - before[0] - sum(json.loads(before[1]))) for before, after in zip(trials, trials[1:])]


rows = []
for threads in (1, 2):
    worker = worker_start()
    same = {"threads": threads, "variant": "b", "x": 10, "y": 16}
    other = dict(same, x=9)
    for name, configs in (("the same configuration", [same, same]), ("two configurations in turn", [same, other])):
        costs = [trial(worker, i, configs[i % 2]) for i in range(400)][100:]
        rows.append(figure(f"trial overhead, {threads} thread(s), {name}", median(costs), "us", "< 1000", median(costs) < 1000))
    worker.stdin.close()
    worker.wait()
worker = worker_start()
for name, members in (("wall time", {}), ("a metric", {"metric": "rate ([0-9]+)"}), ("output hashed", {"hash": True}),
                      ("three samples", {"samples": 3})):
    costs = [program_trial(worker, i, **members) for i in range(220)][20:]
    rows.append(figure(f"trial of a program, overhead, {name}", median(costs), "us", "< 3000", median(costs) < 3000))
worker.stdin.close()
worker.wait()
call("tune", "--param", "A=1..300", "--budget", "200e", "--strategy", "random", "--seed", "1", "--store",
     os.path.join(FOLDER.name, "overhead.db"), "--", "true")
for phase, runs in (("search", "five runs"), ("duel", "one run")):
    cost = median(tuner_trials(phase))
    rows.append(figure(f"trial of `true` in a tuner, overhead, {runs}", cost, "us", "< 3000", cost < 3000))
finish(rows)

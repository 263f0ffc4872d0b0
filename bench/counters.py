# SPDX-License-Identifier: GPL-3.0-or-later
"""What counting costs: a thread's start and stop of each backend that can be used here, the least of many runs; and how
much longer a run takes that is counted, the quickest of many to the quickest that was timed beside it. Counters that are
not asked for cost nothing: no code of theirs runs."""
import json
import subprocess

from common import ENVIRONMENT, WORKER, figure, finish

SIMULATED = ("cachegrind", "fake")
BY_KERNELS = ("papi-sde", "kernel")  # a second instance of the kernel counts for them
PAPI = ["papi:PAPI_TOT_CYC", "papi:PAPI_TOT_INS", "papi:perf::TASK-CLOCK", "papi:perf::PAGE-FAULTS"]
TRIALS = 40
KERNELS = (("fw", {"n": 256}, {"threads": 1}), ("gol", {"n": 512}, {"threads": 1}))


def ask(worker, request):
    worker.stdin.write(json.dumps(request) + "\n")
    worker.stdin.flush()
    answer = json.loads(worker.stdout.readline())
    assert "error" not in answer, answer
    return answer


def trial(worker, kernel, problem, config, backend):
    answer = ask(worker, {"op": "trial", "kernel": kernel, "problem": problem, "config": config, "samples": 1,
                          "warmup": 0, "min_sample_s": 0.0, "counters": PAPI if backend == "papi" else [backend]})
    assert answer["status"] == "correct", answer
    return answer


def counted(answer):
    return [event["name"] for event in answer["counters"] if event["value"] is not None]


worker = subprocess.Popen([WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=ENVIRONMENT)
backends = [counter["name"] for counter in ask(worker, {"op": "describe"})["counters"]
            if counter["usable"] and counter["name"] not in SIMULATED]
rows = []
for backend in backends:
    if not counted(trial(worker, *KERNELS[0], backend)):
        continue
    costs = [1e6 * trial(worker, "fw", {"n": 64}, {"threads": 1}, backend)["counting"]["start_stop_s"]
             for _ in range(10 * TRIALS)]
    wanted = 10 if backend == "perf" else 100
    rows.append(figure(f"start and stop of {backend}, a thread", min(costs), "us", f"< {wanted}", min(costs) < wanted))
    for kernel, problem, config in KERNELS:
        answers = [trial(worker, kernel, problem, config, backend) for _ in range(TRIALS)]
        timed = min(sample for answer in answers for sample in answer["samples"])
        slower = min(answer["counting"]["seconds"] for answer in answers) / timed
        most = 2 if backend in BY_KERNELS else 1.1
        rows.append(figure(f"a counted run of {kernel}, {backend}, to a timed one", slower, "x", f"< {most}", slower < most))
worker.stdin.close()
worker.wait()
finish(rows)

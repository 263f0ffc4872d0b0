# SPDX-License-Identifier: BSD-3-Clause
"""Callables in their own process, and searches that end early. No time is checked."""

import asyncio
import ctypes
import importlib.util
import os
import pickle
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import traceback
import unittest

import sweetspot
from sweetspot import _options
from sweetspot._command import program
from sweetspot._travel import pack

POOL = """
double pool_sum(const double *x, long n) {
    double sum = 0;
#pragma omp parallel for reduction(+ : sum) num_threads(2)
    for (long i = 0; i < n; i++) sum += x[i];
    return sum;
}
"""


def nap(x):
    time.sleep(0.002 * x)


def broken(x):
    return {"here": x}["missing"]


async def later(x):
    await asyncio.sleep(0.002 * x)
    return 7


def train(rate, trial):
    loss = 1.0
    for step in range(10):
        loss *= 1 - rate / 100
        trial.report(loss, step)
        if trial.should_prune():
            break
    return loss


def several(x):
    return {"loss": 1.0 + abs(x - 3), "size": 10.0 - x}


class Callables(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder, self.store = folder.name, os.path.join(folder.name, "store.db")

    def tune(self, *args, **kwargs):
        return sweetspot.tune(*args, **{"store": self.store, "counters": "none", **kwargs})

    def test_what_gives_up_by_its_reports_is_censored_and_never_the_default(self):
        result = self.tune(train, {"rate": list(range(1, 13))}, default={"rate": 1}, metric="returned", budget="12e")
        cut = {trial.config["rate"]: trial.value for trial in result.trials() if trial.status == "censored"}
        self.assertTrue(cut and 1 not in cut and 12 not in cut, cut)
        for rate, value in cut.items():  # the report at the step where it gave up
            self.assertTrue(any(abs(value - (1 - rate / 100) ** step) < 1e-6 for step in range(1, 11)), (rate, value))
        self.assertEqual(result.best.config, {"rate": 12})

    def test_a_worker_whose_channel_breaks_ends_in_silence(self):
        code = """if True:
            import time
            from sweetspot._params import Space
            from sweetspot._travel import pack
            from sweetspot._worker import Job, Process
            job = Job(time.gmtime, Space({"secs": [1]}), {"secs": 1})
            worker = Process(pack(job, job.function))
            worker.channel.recv_bytes()
            worker.channel.send_bytes(b"1")
            worker.channel.poll(60)  # an answer that nobody reads
            worker.channel.close()
            print(worker.process.wait(60))"""
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        self.assertEqual((done.stdout, done.stderr), ("0\n", ""))

    def test_an_openmp_pool_that_was_used_before(self):
        compiler, library = shutil.which("cc"), os.path.join(self.folder, "pool.so")
        source = os.path.join(self.folder, "pool.c")
        with open(source, "w") as file:
            file.write(POOL)
        if not compiler or subprocess.run([compiler, "-fopenmp", "-shared", "-fPIC", source, "-o", library], stderr=subprocess.DEVNULL).returncode:
            self.skipTest("there is no compiler for OpenMP")
        pool = ctypes.CDLL(library)
        pool.pool_sum.restype = ctypes.c_double
        data = (ctypes.c_double * 1000)(*[1.0] * 1000)
        self.assertEqual(pool.pool_sum(data, ctypes.c_long(1000)), 1000)

        def pooled(chunk):
            values = (ctypes.c_double * 1000)(*[1.0] * 1000)
            return pool.pool_sum(values, ctypes.c_long(1000))

        result = self.tune(pooled, {"chunk": [1, 2]}, budget="2e", timeout=60)
        self.assertEqual(sum(result.failures.values()), 0)
        self.assertEqual(result.checked.how, "output same")

    def test_closures_travel_with_what_they_use(self):
        factor, seen = 3, []

        def inner(x, depth=2):
            seen.append(x)
            return factor * x if depth == 0 else inner(x, depth - 1)

        function = pickle.loads(pack(inner, inner))
        self.assertEqual(function(2), 6)
        self.assertEqual(seen, [])
        result = self.tune(lambda x: [inner(1), nap(x)][0], {"x": [2, 1]}, budget="2e")
        self.assertEqual(result.failures["runtime"], 0)

    def test_what_cannot_travel_is_said(self):
        lock = threading.Lock()
        with self.assertRaisesRegex(TypeError, "process of its own.*lock"):
            self.tune(lambda x: lock, {"x": [1, 2]})

    def test_an_exception_brings_its_traceback(self):
        with self.assertRaises(sweetspot.SweetspotError) as raised:
            self.tune(broken, {"x": [1, 2]}, budget="5s")
        text = "".join(traceback.format_exception(None, raised.exception, None))
        self.assertRegex(text, r"KeyError: 'missing'")
        self.assertRegex(str(raised.exception.__cause__), r'test_callables.py", line \d+, in broken')
        self.assertNotIn("_worker.py", str(raised.exception.__cause__))

    def test_a_budget_that_ends_before_a_comparison(self):
        for result in (self.tune(["sleep", "0.{X}"], {"X": [3, 4]}, budget="1s"), self.tune(nap, {"x": [300, 200, 250]}, budget="2s")):
            self.assertEqual(result.verdict, "undecided")
            self.assertTrue(result.best.config)
            self.assertEqual(str(result.speedup), "not measured")

    def test_on_trial_sees_trials_and_stops(self):
        for target, params in ((nap, {"x": list(range(1, 31))}), (["sleep", "0.00{x}"], {"x": list(range(1, 10))})):
            seen = []
            result = self.tune(target, params, budget="120s", on_trial=lambda trial: [seen.append(trial), len(seen) < 3][1])
            self.assertEqual(len(seen), 3)
            self.assertEqual([trial.config for trial in result.trials()[:3]], [trial.config for trial in seen])

    def test_an_interrupt_ends_with_a_result(self):
        ready = []

        def on_trial(trial):
            if not ready:
                ready.append(threading.Timer(0.2, lambda: os.kill(os.getpid(), signal.SIGINT)))
                ready[0].start()

        result = self.tune(nap, {"x": list(range(1, 200))}, budget="120s", on_trial=on_trial)
        self.assertGreaterEqual(result.evaluations, 1)
        self.assertTrue(result.best.config)

    def test_a_result_travels_and_shows_itself(self):
        result = self.tune(nap, {"x": [3, 2, 1]}, budget="3e")
        again = pickle.loads(pickle.dumps(result))
        os.unlink(self.store)
        self.assertEqual((again.verdict, again.best, again.trials()), (result.verdict, result.best, result.trials()))
        shown = re.sub(r"<[^>]*>", " ", result._repr_html_())
        self.assertIn("x=%d" % result.best.config["x"], shown)
        self.assertIn("nap", shown)
        self.assertIn("<svg", again._repr_html_())

    def test_unknown_keywords(self):
        for bad in ("callbacks", "budgett", "constraint"):
            with self.assertRaisesRegex(TypeError, bad):
                self.tune(nap, {"x": [1, 2]}, **{bad: 1})
        with self.assertRaisesRegex(TypeError, "sampels.*samples"):
            sweetspot.compare("true", "true", sampels=3)
        with self.assertRaisesRegex(TypeError, "sead"):
            sweetspot.replay("x.json", sead=1)

    def test_options_are_those_of_the_program(self):
        # of other words: arguments with a name of their own, what this package sets, and --from, which is a word of Python
        own = {"budget", "constraint", "default", "metric", "name", "param", "verify", "spec", "plan", "json", "quiet", "verbose",
               "help", "version", "export", "fail_slower", "fail_undecided", "from", "output", "arg", "block", "grid", "grid_div",
               "compiler", "option", "problem", "shared", "stop_when"}  # fmt: skip
        for word, options in (("tune", _options.TuneOptions), ("compare", _options.CompareOptions), ("replay", _options.ReplayOptions)):
            text = subprocess.run([program(), word, "--help"], stdout=subprocess.PIPE, text=True, check=True).stdout
            known = {name.replace("-", "_") for name in re.findall(r"^ {2,6}(?:-\w, )?--([\w-]+)", text, re.M)}
            names = set(_options.names_of(options))
            self.assertLessEqual(names, known, word)
            self.assertLessEqual(known - own, names, word)

    def test_async(self):
        result = self.tune(later, {"x": [2, 1]}, budget="2e")
        self.assertEqual((result.failures["runtime"], result.checked.how), (0, "output same"))
        result = asyncio.run(sweetspot.tune_async(nap, {"x": [2, 1]}, budget="2e", store=self.store, counters="none"))
        self.assertEqual(result.evaluations, 2)

    def test_metrics(self):
        result = self.tune(several, {"x": [1, 2, 3, 4]}, metric="returned", budget="4e")
        self.assertEqual(result.best.config, {"x": 3})
        self.assertTrue(all(trial.metrics["size"] == 10 - trial.config["x"] for trial in result.trials()))
        self.assertEqual({trial.config["x"] for trial in result.pareto("loss", "size")}, {3, 4})
        self.assertEqual(self.tune(several, {"x": [1, 2, 3, 4]}, metric="size", budget="4e").best.config, {"x": 4})

    def test_what_people_see_is_the_function(self):
        self.tune(nap, {"x": [2, 1]}, budget="2e")
        shown = subprocess.run([program(), "store", "list", "--store", self.store], stdout=subprocess.PIPE, text=True, check=True).stdout
        self.assertIn("nap(x={x})", shown)
        self.assertNotIn("_client", shown)

    def test_libraries_with_threads(self):
        for name, work in (("numba", NUMBA), ("sklearn", SKLEARN)):
            with self.subTest(name):
                if not importlib.util.find_spec(name):
                    self.skipTest("%s is not installed" % name)
                space = {}
                exec(work, space)
                space["function"](1)  # its threads live now
                result = self.tune(space["function"], {"n": [1, 2]}, budget="2e", timeout=120)
                self.assertEqual(sum(result.failures.values()), 0, name)


NUMBA = """
import numba, numpy
@numba.njit(parallel=True)
def total(x):
    s = 0.0
    for i in numba.prange(len(x)):
        s += x[i]
    return s
def function(n):
    return total(numpy.ones(1000 * n)) / n
"""
SKLEARN = """
import numpy
from sklearn.cluster import KMeans
def function(n):
    return KMeans(n_clusters=2, n_init=1, random_state=0).fit(numpy.arange(40.0).reshape(20, 2)).inertia_
"""

if __name__ == "__main__":
    unittest.main()

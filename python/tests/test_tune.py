# SPDX-License-Identifier: BSD-3-Clause
"""Tunes callables and commands with the real program. Differences are factors, and no time is checked."""

import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
import unittest
import unittest.mock

import sweetspot


def alive(pid):
    try:
        with open("/proc/%d/stat" % pid) as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def sleeper(n, **_):
    time.sleep(0.003 * n)
    return 1.0


def misbehaving(what):
    if what == "crash":
        os.kill(os.getpid(), 11)
    if what == "raise":
        raise RuntimeError("as asked")
    time.sleep({"slow": 0.02, "wrong": 0.001}.get(what, 0.004))
    return 2.0 if what == "wrong" else 1.0


class Tune(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.store = os.path.join(folder.name, "store.db")

    def tune(self, *args, **kwargs):
        return sweetspot.tune(*args, store=self.store, counters="none", **kwargs)

    def test_callable(self):
        result = self.tune(sleeper, {"n": [8, 4, 1], "shape": [(1, 2), None]}, budget="6e", default={"n": 4})
        self.assertEqual(result.best.config["n"], 1)
        self.assertEqual(result.baseline.config, {"n": 4, "shape": (1, 2)})
        self.assertIn(result.best.config["shape"], [(1, 2), None])
        self.assertGreater(result.speedup.ratio, 2)
        self.assertEqual((result.name, result.valid, result.evaluations), ("sleeper", 6, 6))
        trials = result.trials()
        self.assertGreaterEqual(len(trials), 6)
        self.assertEqual({trial.config["n"] for trial in trials}, {8, 4, 1})

    def test_crashes_and_wrong_results_cost_a_trial(self):
        result = self.tune(misbehaving, {"what": ["slow", "crash", "raise", "wrong", "good"]}, budget="5e")
        self.assertEqual(result.best.config, {"what": "good"})
        self.assertEqual(result.failures["runtime"], 2)
        self.assertEqual(result.failures["correctness"], 1)
        messages = " ".join(trial.message or "" for trial in result.trials())
        self.assertIn("as asked", messages)

    def test_a_long_tmpdir(self):
        folder = os.path.join(tempfile.mkdtemp(), "x" * 120)
        os.mkdir(folder)
        self.addCleanup(shutil.rmtree, os.path.dirname(folder))
        with unittest.mock.patch.dict(os.environ, TMPDIR=folder), unittest.mock.patch.object(tempfile, "tempdir", None):
            result = self.tune(sleeper, {"n": [2, 1]}, budget="2e")
        self.assertEqual(result.evaluations, 2)

    def test_a_hang_ends_with_a_killed_parent(self):
        script = "import os, sweetspot, time\n" + textwrap.dedent("""
            def hang(n):
                print(os.getpid(), file=os.fdopen(os.dup(2), "w"), flush=True)
                time.sleep(1000)
            sweetspot.tune(hang, {"n": [1, 2]}, budget="2e", timeout=500, counters="none", store=%r)
        """ % self.store)
        with subprocess.Popen([sys.executable, "-c", script], stderr=subprocess.PIPE) as parent:
            pid = int(parent.stderr.readline())
            with open("/proc/%d/task/%d/children" % (parent.pid, parent.pid)) as children:
                pids = {pid, *map(int, children.read().split())}
            parent.kill()
        self.assertGreater(len(pids), 1)  # the program `sweetspot` is one of them
        for _ in range(600):
            if not any(map(alive, pids)):
                break
            time.sleep(0.1)
        self.assertFalse([pid for pid in pids if alive(pid)])

    def test_a_hang_costs_a_trial(self):
        def hang(n):
            time.sleep(1000 if n == 2 else 0.003 * n)

        result = self.tune(hang, {"n": [8, 2, 1]}, budget="3e", timeout=2)
        self.assertEqual(result.best.config, {"n": 1})
        self.assertEqual(result.failures["timeout"] + result.failures["censored"], 1)

    def test_returned_value(self):
        result = self.tune(lambda x: 1 + (x - 3) ** 2, {"x": [0, 1, 2, 3, 4]}, budget="5e", metric="returned", name="parabola")
        self.assertEqual((result.name, result.best.config, result.best.median), ("parabola", {"x": 3}, 1.0))

    def test_own_verification(self):
        result = self.tune(sleeper, {"n": [4, 1, 2]}, budget="3e", verify=lambda _, config: config["n"] != 1)
        self.assertEqual(result.best.config, {"n": 2})

    def test_a_constraint_that_is_a_function_is_refused(self):
        with self.assertRaisesRegex(ValueError, "texts"):
            self.tune(sleeper, {"n": [1, 2]}, budget="2e", constraints=[lambda config: config["n"] > 1])

    def test_constraints(self):
        result = self.tune(sleeper, {"n": [4, 1, 2], "m": [1, 2]}, budget="9e", constraints=["n * m >= 4"])
        self.assertEqual(result.valid, 3)

    def test_command(self):
        result = self.tune(["sleep", "0.0{X}"], {"X": [6, 1]}, budget="2e")
        self.assertEqual((result.best.config, result.proven), ({"X": 1}, True))

    def test_errors(self):
        with self.assertRaises(sweetspot.SweetspotError) as raised:
            self.tune(["/nonexistent/program", "{X}"], {"X": [1, 2]}, budget="2e")
        self.assertNotEqual(raised.exception.status, 0)
        self.assertIn("/nonexistent/program", str(raised.exception))
        self.assertRaises(ValueError, self.tune, sleeper)
        self.assertRaises(ValueError, self.tune, ["true", "{X}"], {"X": ["two words", "b"]})
        self.assertRaises(ValueError, self.tune, sleeper, {"n": [1, 2]}, default={"n": 3})
        os.environ["SWEETSPOT"], before = "/nonexistent/sweetspot", os.environ.get("SWEETSPOT")
        try:
            self.assertRaises(sweetspot.SweetspotError, self.tune, ["true"], {"X": [1, 2]})
        finally:
            if before is None:
                del os.environ["SWEETSPOT"]
            else:
                os.environ["SWEETSPOT"] = before

    def test_compare(self):
        found = sweetspot.compare({"block": 16}, {"block": 16, "threads": 1}, kernel="fw", size="n=48", no_store=True,
                                  pairs=21, max_pairs=21, counters="none")
        self.assertIn(found.verdict, ("faster", "slower", "tie", "undecided"))
        self.assertEqual(found.a.config["block"], 16)
        self.assertAlmostEqual(found.speedup.ratio * found.raw["ratio"], 1)

    def test_faster_is_above_1(self):
        found = sweetspot.compare("true", "sleep 0.2", pairs=21, max_pairs=21)
        self.assertGreater(found.speedup.ratio, 1)
        self.assertLessEqual(found.speedup.low, found.speedup.ratio)
        self.assertLessEqual(found.speedup.ratio, found.speedup.high)


if __name__ == "__main__":
    unittest.main()

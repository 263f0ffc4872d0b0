# SPDX-License-Identifier: BSD-3-Clause
"""Choices inside a run, and functions that tune themselves at their first calls."""

import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from unittest import mock

import sweetspot
from sweetspot._autotune import _search

SCRIPT = """
import sys, types, sweetspot
from sweetspot import _autotune
calls, now = [], [0.0]
_autotune.time = types.SimpleNamespace(perf_counter=lambda: now[0])
@sweetspot.autotune({"block": [16, 64, 256], "how": ["slow", (1, 2)]}, key=["n"], name="example")
def work(n, block, how):
    calls.append((block, how))
    now[0] += .012 if how == "slow" else .001 if block == 64 else .006
    return n * 2
assert all(work(n=4) == 8 for _ in range(int(sys.argv[1])))
print(calls[0], calls[-1])
"""


class Clock:
    now = 0.0

    def perf_counter(self):
        return self.now


def ending(seconds):
    """The end of a search whose calls take seconds(config); x=0 is the default."""
    asked = iter(range(1, 5))
    study = mock.Mock(ask=lambda: mock.Mock(config={"x": next(asked)}))
    search = _search(study, {"x": 0}, trials=4, repeat=2)
    config = next(search)
    try:
        while True:
            config = search.send(seconds(config))
    except StopIteration as end:
        return end.value.config["x"]


class Inside(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name
        patch = mock.patch.dict(os.environ, {"XDG_DATA_HOME": self.folder, "XDG_CONFIG_HOME": self.folder + "/none"})
        patch.start()
        self.addCleanup(patch.stop)

    def script(self, calls):
        out = subprocess.run([sys.executable, "-c", SCRIPT, str(calls)], stdout=subprocess.PIPE, check=True)
        return out.stdout.decode().strip()

    def saved(self):
        with open(os.path.join(self.folder, "sweetspot", "autotune", "example.json")) as file:
            return json.load(file)

    def test_the_first_calls_tune_and_later_processes_begin_with_the_result(self):
        self.assertEqual(self.script(120), "(16, 'slow') (64, (1, 2))")
        entry = self.saved()["entries"][0]
        self.assertEqual((entry["verdict"], entry["problem"], entry["config"]["block"]), ("faster", {"n": 4}, 64))
        self.assertGreater(entry["speedup"]["ratio"], 1.5)
        self.assertEqual(self.script(1), "(64, (1, 2)) (64, (1, 2))")
        path = os.path.join(self.folder, "sweetspot", "autotune", "example.json")
        shown = subprocess.run([os.environ["SWEETSPOT"], "profile", "show", path], stdout=subprocess.PIPE, check=True)
        self.assertIn(b"example", shown.stdout)

    def test_a_result_of_another_machine_or_a_broken_file_is_not_taken(self):
        self.script(120)
        path, document = os.path.join(self.folder, "sweetspot", "autotune", "example.json"), self.saved()
        document["machine"].update(cpu="Another", threads=4096, cores=4096, fingerprint="sha256:1")
        for text in (json.dumps(document), "{", "[]"):
            with open(path, "w") as file:
                file.write(text)
            self.assertTrue(self.script(1).startswith("(16, 'slow')"), text)

    def test_each_call_computes_once_and_failures_go_to_the_default(self):
        ran = []

        @sweetspot.autotune({"x": [1, 2, 3]}, trials=3, repeat=1)
        def step(items, x):
            if x == 2:
                raise RuntimeError("it does not work")
            ran.append(x)
            items.append(x)

        items = []
        for count in range(1, 40):
            step(items)
            self.assertEqual((len(items), len(ran)), (count, count))
        with self.assertRaises(RuntimeError):
            step(items, x=2)

    def test_an_error_of_the_default_is_the_callers(self):
        @sweetspot.autotune({"x": [1, 2]})
        def broken(x):
            raise KeyError(x)

        for _ in range(3):
            self.assertRaises(KeyError, broken)

    def test_equals_keep_the_default(self):
        seen = []

        @sweetspot.autotune({"x": list(range(8))}, trials=4, default={"x": 5})
        def same(x):
            seen.append(x)
            clock.now += 1

        with mock.patch("sweetspot._autotune.time", Clock()) as clock:
            for _ in range(80):
                same()
        self.assertEqual((seen[0], seen[-1]), (5, 5))
        self.assertGreater(len(set(seen)), 3)

    def test_noise_makes_a_winner_in_two_of_a_thousand_searches(self):
        noise = random.Random(7)
        false = sum(ending(lambda config: noise.lognormvariate(0, 0.1)) != 0 for _ in range(3000))
        self.assertLess(false, 15)
        half = [ending(lambda config: noise.lognormvariate(0, 0.1) * (0.5 if config["x"] == 2 else 1)) for _ in range(300)]
        self.assertGreater(half.count(2), 290)

    def test_a_machine_that_gets_slower_makes_no_winner(self):
        slower = itertools.count()
        self.assertEqual(ending(lambda config: 1.05 ** next(slower)), 0)

    def test_keys_are_numbers_words_and_arrays(self):
        class Array:
            shape, dtype = (3, 4), "float32"

        seen = []

        @sweetspot.autotune({"x": [1, 2]}, key=["a", "b", "c"], trials=1)
        def function(a, b, c=2.5, x=0):
            seen.append(x)

        for _ in range(20):
            function(Array(), "word")
        function(Array(), "other")
        self.assertEqual(seen[-1], 1)
        self.assertRaises(TypeError, sweetspot.autotune({"x": [1]}, key=["none"])(lambda x: x))

    def test_asynchronous_functions_are_timed_to_their_end(self):
        waits = []

        @sweetspot.autotune({"x": [1, 2]}, synchronize=lambda: waits.append(time.sleep(0)), trials=1)
        def launch(x):
            pass

        launch()
        self.assertEqual(len(waits), 2)

    def test_threads_call_while_one_tunes(self):
        @sweetspot.autotune({"x": [1, 2, 3]}, key=["n"], trials=3)
        def function(n, x):
            return n

        wrong = []
        threads = [threading.Thread(target=lambda: wrong.extend(n for n in range(60) if function(n % 2) != n % 2)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(wrong, [])

    def test_a_context_has_its_defaults_and_a_profiles_values(self):
        with sweetspot.context("spmv", block=[16, 32], how=["a", (1, 2)], part=[0.5, 1]) as c:
            self.assertEqual((c.block, c["how"], c.part), (16, "a", 0.5))
            self.assertRaises(AttributeError, lambda: c.other)
        with sweetspot.context("spmv", block=[16, 32], how=["a", (1, 2)], part=[0.5, 1], problem={"n": 4, "kind": "w"}) as c:
            c.report(1e-3)
        with self.assertRaises(RuntimeError), sweetspot.context("other", block=[16], default={"block": 16}):
            raise RuntimeError
        self.assertRaises(ValueError, sweetspot.context, "bad", constraints=["block <<"], block=[1])

    def test_a_context_without_the_library_has_its_defaults(self):
        code = "import sweetspot\nwith sweetspot.context('s', block=[1, 2], default={'block': 2}) as c: print(c.block)"
        environment = {**os.environ, "SWEETSPOT_LIBRARY": "/none", "SWEETSPOT": "/bin/false"}
        out = subprocess.run([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, check=True)
        self.assertEqual(out.stdout.strip(), b"2")


if __name__ == "__main__":
    unittest.main()

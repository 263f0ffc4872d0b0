# SPDX-License-Identifier: BSD-3-Clause
"""Callables that win by doing less: each is found, or its results are said to be unchecked."""

import array
import functools
import math
import os
import random
import tempfile
import time
import unittest

import sweetspot
from sweetspot._params import Space
from sweetspot._worker import Job, Worker

DATA = list(range(1000, 0, -1))
OUT = array.array("d", bytes(8 * 64))
STORED = {}


def work(n=200):
    return sum(math.sqrt(i) for i in range(n))


def counted(function):
    """Calls function(V, n) with the number of the call with this V."""
    calls = {}

    def call(V):
        calls[V] = calls.get(V, 0) + 1
        return function(V, calls[V])

    return call


def answers(function, samples=4, **job):
    """The last answers for V=1, the default, and V=2, in turn."""
    worker = Worker(Job(function, Space({"V": [1, 2]}), {"V": 1}, **job))
    for _ in range(samples):
        found = worker.answer(["1"]), worker.answer(["2"])
    return found


class Cheats(unittest.TestCase):
    def wrong(self, function, why="", **job):
        default, other = answers(function, **job)
        self.assertEqual((default["status"], other["status"]), ("right", "wrong"), (default, other))
        self.assertIn(why, other["why"])

    def unchecked(self, function, why, **job):
        for answer in answers(function, **job):
            self.assertEqual((answer["status"], answer["checked"]), ("unchecked", 0), answer)
            self.assertIn(why, answer["why"])

    def right(self, function, **job):
        for answer in answers(function, **job):
            self.assertEqual(answer["status"], "right", answer)
            self.assertGreater(answer["checked"], 0)

    def test_a_result_that_is_right_once(self):
        self.wrong(counted(lambda V, n: 0 if V == 2 and n > 1 else work()), "differs from")
        self.wrong(counted(lambda V, n: None if V == 2 and n > 1 else work()), "differs from")

    def test_a_result_that_is_wrong_later(self):
        self.wrong(counted(lambda V, n: 0.0 if V == 2 and n > 500 else work(20)), "differs from")

    def test_a_result_that_is_right_in_every_second_call(self):
        self.wrong(counted(lambda V, n: 0.0 if V == 2 and n % 2 else work(20)), samples=40)

    def test_a_result_of_another_type(self):
        for other in ("42.0", None, [42.0], {}, b"42", object()):
            self.wrong(lambda V: other if V == 2 else 42.0)

    def test_a_result_that_was_kept(self):
        def kept(V):
            if V == 2 and V in STORED:
                return STORED[V]
            STORED[V] = [work(20 + i) for i in range(40)]
            return STORED[V]

        def number(V, cache={}):
            if V == 2 and V in cache:
                return cache[V]
            cache[V] = work()
            return cache[V]

        self.wrong(kept, "same object")
        self.wrong(number, "same object")
        with self.assertRaisesRegex(ValueError, "keeps its results"):
            Job(functools.lru_cache()(work), Space({"n": [1, 2]}), {"n": 1})

    def test_a_buffer_that_each_call_fills(self):
        def fill(V):
            for i in range(len(OUT)):
                OUT[i] = work(3) + i
            return OUT if V == 2 else OUT[:]

        self.right(fill)

    def test_a_buffer_that_only_the_default_fills(self):
        out = array.array("d", bytes(8 * 64))

        def view(V):
            if V == 1:
                out[:] = array.array("d", (work(3) + i for i in range(len(out))))
            return memoryview(out)

        self.wrong(view, "differs from")

    def test_a_buffer_in_a_fresh_process(self):
        class Hidden:  # its data are not found
            __slots__ = ("out",)

        hidden = Hidden()
        hidden.out = [0]

        def view(V):
            hidden.out[0] = V
            return hidden.out

        worker = Worker(Job(view, Space({"V": [1, 2]}), {"V": 1}))
        self.assertEqual(worker.answer(["2"])["status"], "wrong")

    def test_inputs_changed_in_place(self):
        def sort(V):
            before = DATA[0]
            (DATA if V == 2 else DATA[:]).sort()
            return before

        default, other = answers(sort)
        self.assertEqual((default["status"], other["status"], other["changed"]), ("right", "right", ["DATA"]))

    def test_inputs_in_a_closure_and_in_rows(self):
        rows = [[1.0] * 40 for _ in range(3)]

        def scale(V):
            for row in rows:
                row[:] = [2 * each for each in row]
            return rows[0][0]

        self.right(scale)

    def test_iterators_are_run_to_their_end(self):
        self.right(lambda V: (work(2) for _ in range(V and 50)))
        self.wrong(lambda V: map(work, range(3 if V == 2 else 50)), "sequence of 50")
        self.wrong(lambda V: iter(()) if V == 2 else [1, 2], "sequence of 2")

    def test_a_lazy_object(self):
        class Lazy:
            def __init__(self, function):
                self.function = function

        self.unchecked(lambda V: Lazy(lambda: work()), "cannot be compared")
        self.wrong(lambda V: Lazy(work) if V == 2 else work(), "differs from")

    def test_async_functions(self):
        async def later(V):
            return work()

        async def generate(V):
            yield work()

        with self.assertRaisesRegex(ValueError, "async"):
            Job(generate, Space({"V": [1, 2]}), {"V": 1})
        for function in (later, lambda V: later(V)):
            worker = Worker(Job(function, Space({"V": [1, 2]}), {"V": 1}))
            self.assertEqual(worker.answer(["1"])["status"], "right")

    def test_later_calls_that_raise(self):
        def raising(V, n):
            if V == 2 and n > 1:
                raise RuntimeError("as asked")
            return work()

        self.assertRaisesRegex(RuntimeError, "as asked", answers, counted(raising))

    def test_nothing_to_check(self):
        self.unchecked(lambda V: work() and None, "returns None")
        self.unchecked(lambda V: random.random(), "differ from call to call")
        self.unchecked(lambda V: object(), "cannot be compared")
        self.unchecked(lambda V: work(), "verify=False", verify=False)
        self.unchecked(lambda V: 1.0, "returns its cost", metric="returned")

    def test_a_random_default_in_a_fresh_process(self):
        worker = Worker(Job(lambda V: random.random(), Space({"V": [1, 2]}), {"V": 1}))
        self.assertEqual(worker.answer(["2"])["status"], "unchecked")

    def test_an_own_verification_sees_later_calls(self):
        self.wrong(counted(lambda V, n: n if V == 2 else 1), verify=lambda result, _: result == 1)

    def test_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        data, out = numpy.arange(100.0), numpy.zeros(100)
        out[7] = math.nan
        inner = slice(10, 90)

        def fill(V):
            out[inner] = data[inner] ** 2
            return out if V == 2 else out.copy()

        def kept(V, cache={}):
            if V == 2 and V in cache:
                return cache[V]
            cache[V] = numpy.sqrt(data)
            return cache[V]

        def add(V):
            data[:] += 1
            return data.sum()

        self.right(fill)
        self.wrong(kept, "same object")
        self.right(add)
        self.right(lambda V: data[0] if V == 2 else float(data[0]))
        self.wrong(counted(lambda V, n: data * (V == 1 or n == 1)), "elements differ")
        self.right(lambda V: list(data) if V == 2 else data)


class Tuned(unittest.TestCase):
    def tune(self, function, **options):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        store = os.path.join(folder.name, "store.db")
        return sweetspot.tune(function, {"V": [1, 2]}, budget="2e", store=store, counters="none", **options)

    def test_right_once_does_not_win(self):
        result = self.tune(counted(lambda V, n: time.sleep(0.0 if V == 2 and n > 1 else 0.004) or min(n, V)))
        self.assertEqual((result.best.config, result.verdict == "faster"), ({"V": 1}, False))
        self.assertEqual(result.failures["correctness"], 1)
        self.assertIn("2 differs from 1", " ".join(trial.message or "" for trial in result.trials()))

    def test_checked(self):
        result = self.tune(lambda V: time.sleep(0.004 / V) or V // V)
        self.assertEqual((result.checked.how, result.checked.why, result.raw["results"][0]["checked"]["runs"]),
                         ("output same", "", result.checked.runs))
        self.assertGreater(result.checked.runs, 2)
        verified = self.tune(lambda V: time.sleep(0.004 / V) or V, verify=lambda result, config: result == config["V"])
        self.assertEqual((verified.checked.how, verified.checked.runs > 2), ("verify", True))

    def test_unchecked(self):
        result = self.tune(lambda V: time.sleep(0.008 / V))
        self.assertEqual((result.checked.how, result.checked.runs), ("nothing", 0))
        self.assertIn("checked: nothing (the function returns None)", str(result))
        self.assertEqual(result.raw["results"][0]["checked"]["how"], "nothing")

    def test_changed_inputs_are_said(self):
        data = list(range(100))
        result = self.tune(lambda V: time.sleep(0.004 / V) or data.reverse() or data[0])
        self.assertIn("data", " ".join(result.notes))
        self.assertEqual(result.checked.how, "output same")


if __name__ == "__main__":
    unittest.main()

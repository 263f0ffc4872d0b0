# SPDX-License-Identifier: BSD-3-Clause
"""Parameter values, comparisons of results, and documents: nothing here runs the program."""

import math
import types
import unittest
from unittest import mock

from sweetspot._compare import Incomparable, kept, same
from sweetspot._params import Space
from sweetspot._results import Comparison, Ratio, inverse, measurement, ratio
from sweetspot._options import budget_of, words_of


class Values(unittest.TestCase):
    def test_each_value_comes_back(self):
        values = [1, 2.5, "word", "two words", True, None, (1, 2), "", "v3", "a,b"]
        space = Space({"P": values})
        self.assertEqual(len(set(space.words["P"])), len(values))
        for value in values:
            back = space.value("P", space.word("P", value))
            self.assertTrue(back is value or (type(back) is type(value) and back == value), (value, back))

    def test_numbers_of_a_document(self):
        space = Space({"P": [1, 2, 0.5]})
        self.assertEqual(space.config({"P": 2.0}), {"P": 2})
        self.assertIs(type(space.value("P", 2.0)), int)
        self.assertEqual(space.value("P", 0.5), 0.5)

    def test_wrong_parameters(self):
        for params in ({}, {"P": []}, {"1P": [1]}, {"P": [1, 1]}):
            self.assertRaises(ValueError, Space, params)
        self.assertRaises(TypeError, Space, {"P": "text"})
        self.assertRaises(TypeError, Space, {"P": 3})
        self.assertRaises(TypeError, Space, {1: [2]})
        self.assertRaises(ValueError, Space({"P": [1]}).word, "P", 2)

    def test_options(self):
        self.assertEqual(words_of({"stop_when": "gain<1%", "openmp": True, "shell": False, "set": ["a=1", "b=2"], "x": None}),
                         ["--stop-when=gain<1%", "--openmp", "--set=a=1", "--set=b=2"])
        self.assertEqual([budget_of(each) for each in ("2m", 30, 0.5)], ["2m", "30s", "0.5s"])


class Ratios(unittest.TestCase):
    def test_inverse(self):
        for times, speedup in (((0.5, 0.25, 1.0), (2, 1, 4)), ((2, 1, math.inf), (0.5, 0, 1)), ((2, 0.0, 4), (0.5, 0.25, math.inf))):
            self.assertEqual(inverse(Ratio(*times)), Ratio(*speedup))
            self.assertEqual(inverse(inverse(Ratio(*times))), Ratio(*times))


class Compare(unittest.TestCase):
    def test_same(self):
        for right, result in ((1, 1), (1.0, 1.0 + 1e-9), ("a", "a"), (None, None), ([1, [2.0]], (1, [2.0])), ({"a": 1}, {"a": 1}),
                              (math.nan, math.nan), (1 + 1j, 1 + 1j)):
            self.assertEqual(same(right, result), "")

    def test_different(self):
        for right, result in ((1, 2), (1.0, 1.1), ("a", "b"), (None, 1), ([1, 2], [1]), ([1], 1), ({"a": 1}, {"b": 1}),
                              ({"a": 1.0}, {"a": 2.0}), (object(), 1), (1.0, "1")):
            self.assertNotEqual(same(right, result), "", (right, result))

    def test_incomparable(self):
        for right, result in ((object(), object()), ([object()], [object()]), (lambda: 1, lambda: 1)):
            self.assertRaises(Incomparable, same, right, result)

    def test_copies_stay_what_they_were(self):
        inner = [2.0]
        for value in ([1, inner], (1, inner), {"a": inner}, inner):
            copy = kept(value)
            self.assertEqual(same(copy, value), "")
            inner.append(3)
            self.assertNotEqual(same(copy, value), "")

    def test_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("NumPy is not installed")
        right = numpy.linspace(0, 1, 100)
        self.assertEqual(same(right, right * (1 + 1e-9)), "")
        self.assertIn("1 of 100", same(right, numpy.where(numpy.arange(100) == 7, 5.0, right)))
        self.assertIn("shape", same(right, right[1:]))


class Documents(unittest.TestCase):
    def test_open_intervals(self):
        self.assertEqual(ratio({"ratio": 2.0, "ci": [None, None]}), Ratio(2.0, 0.0, math.inf))
        self.assertTrue(math.isnan(measurement({"config": {}}, dict).median))

    def test_frame_of_pairs(self):
        sides = {"a": {"samples": [1.0, 2.0]}, "b": {"samples": [3.0, 4.0]}}
        nothing = measurement({}, dict)
        pairs, failed = (Comparison("tie", Ratio(1, 1, 1), nothing, nothing, raw) for raw in (sides, {"a": {}, "b": sides["b"]}))
        with mock.patch.dict("sys.modules", pandas=types.SimpleNamespace(DataFrame=list)):
            self.assertEqual(pairs.frame(), [{"a": 1.0, "b": 3.0}, {"a": 2.0, "b": 4.0}])
            self.assertEqual(failed.frame(), [])


if __name__ == "__main__":
    unittest.main()

# SPDX-License-Identifier: BSD-3-Clause
"""Loops of one's own: ask and tell."""

import gc
import pickle
import random
import sys
import unittest

import sweetspot

SPACE = {"x": list(range(16)), "y": list(range(16)), "how": ["a", (1, 2)]}


def bowl(x, y, how):
    return 5 + (x - 11) ** 2 + (y - 4) ** 2 + (how == "a")


class Asking(unittest.TestCase):
    def run_study(self, study, cost, count=60):
        self.addCleanup(study.close)
        for _ in range(count):
            trial = study.ask()
            if trial is None:
                break
            study.tell(trial, cost(**trial.config))
        return study

    def test_finds_the_bottom(self):
        study = self.run_study(sweetspot.Study(SPACE, constraints=["x + y >= 4"]), bowl)
        self.assertLess(study.best.value, 10)
        self.assertTrue(all(trial.config["x"] + trial.config["y"] >= 4 for trial in study.trials))
        self.assertEqual(len({tuple(trial.config.items()) for trial in study.trials}), 60)

    def test_values_of_any_sign_and_direction(self):
        for sign, direction in ((1, "minimize"), (-1, "maximize")):
            study = self.run_study(sweetspot.Study(SPACE, direction=direction), lambda **c: sign * (bowl(**c) - 40))
            self.assertLess(sign * study.best.value, -25)

    def test_ends_with_the_space(self):
        study = self.run_study(sweetspot.Study({"a": [1, 2, 3]}), lambda a: a)
        self.assertEqual(sorted(trial.config["a"] for trial in study.trials), [1, 2, 3])
        self.assertIsNone(study.ask())

    def test_listed_configurations(self):
        rows = [{"a": 1, "b": "u"}, {"a": 3, "b": "v"}]
        study = self.run_study(sweetspot.Study({"a": [1, 2, 3], "b": ["u", "v"]}, configurations=rows), lambda a, b: a)
        self.assertEqual(sorted(map(str, (trial.config for trial in study.trials))), sorted(map(str, rows)))

    def test_failures_and_what_was_not_asked_for(self):
        study = sweetspot.Study(SPACE)
        self.addCleanup(study.close)
        self.assertRaises(ValueError, lambda: study.best)
        study.tell(study.ask(), None)
        study.tell({"x": 3, "y": 3, "how": (1, 2)}, 2.5)
        self.assertEqual((study.best.config["how"], study.best.value), ((1, 2), 2.5))
        self.assertEqual(study.trials[0].status, "runtime")
        self.assertNotEqual(study.ask().config, study.best.config)
        for config, value in (({"x": 99}, 1.0), ({"x": 1}, float("nan")), ({"x": 1}, float("inf")), ({"z": 1}, 1.0)):
            with self.assertRaises(ValueError):
                study.tell({"x": 3, "y": 3, "how": "a", **config}, value)
        self.assertEqual(len(study.trials), 2)
        self.assertIsNotNone(pickle.loads(pickle.dumps(study)).ask())

    def test_several_objectives(self):
        study = sweetspot.Study({"x": [1, 2, 3, 4]}, objectives=["up", "down"])
        self.run_study(study, lambda x: {"up": x if x != 3 else 9, "down": 5 - x if x != 3 else 9})
        self.assertEqual(sorted(trial.config["x"] for trial in study.front()), [1, 2, 4])
        with self.assertRaises(TypeError):
            study.tell({"x": 1}, 3.0)
        study.tell({"x": 1}, {"up": 1, "down": 4})
        self.assertEqual(sorted(trial.config["x"] for trial in study.front()), [1, 2, 4])

    def test_the_front_of_two_objectives_of_any_sign(self):
        study = sweetspot.Study({"x": list(range(40)), "y": list(range(40))}, objectives=["near", "far"], budget=60)
        self.run_study(study, lambda x, y: {"near": x - 20 + abs(y - 30), "far": 15 - x + abs(y - 30)})
        front = [trial for trial in study.front() if trial.config["y"] == 30]
        self.assertGreater(len(front), 15)
        self.assertLess(min(trial.config["x"] for trial in front), 3)
        self.assertGreater(max(trial.config["x"] for trial in front), 36)

    def test_pruning(self):
        study = sweetspot.Study({"x": list(range(20))})
        self.addCleanup(study.close)
        pruned = set()
        for _ in range(20):
            trial = study.ask()
            for step in range(3):
                trial.report(10.0 * trial.config["x"], step)
                if trial.should_prune():
                    pruned.add(trial.config["x"])
                    study.tell(trial, None, pruned=True)
                    break
            else:
                study.tell(trial, 1.0 + trial.config["x"])
        self.assertTrue(pruned and 0 not in pruned)
        self.assertEqual({t.config["x"] for t in study.trials if t.status == "censored"}, pruned)
        self.assertEqual(study.best.config, {"x": 0})

    def test_goes_on_after_a_pickle(self):
        study = self.run_study(sweetspot.Study(SPACE, seed=3), bowl, 10)
        again = self.run_study(pickle.loads(pickle.dumps(study)), bowl, 10)
        self.assertEqual(len({tuple(trial.config.items()) for trial in again.trials}), 20)

    def test_errors_of_the_program(self):
        with self.assertRaisesRegex(sweetspot.SweetspotError, "unknown strategy"):
            sweetspot.Study({"x": [1]}, strategy="rendom").ask()
        with self.assertRaises(ValueError):
            sweetspot.Study({"x": [1]}, direction="up")
        unraisable = []
        self.addCleanup(setattr, sys, "unraisablehook", sys.unraisablehook)
        sys.unraisablehook = unraisable.append
        with self.assertRaises(TypeError):
            sweetspot.Study({"x": [1]}, direktion="minimize")
        gc.collect()
        self.assertEqual(unraisable, [])

    def test_pareto_front_of_random_points(self):
        draw = random.Random(1)
        study = sweetspot.Study({"x": list(range(30))}, objectives=["a", "b"])
        for x in range(30):
            study.tell({"x": x}, {"a": draw.random() + 0.1, "b": draw.random() + 0.1})
        rows = {trial.config["x"]: (trial.metrics["a"], trial.metrics["b"]) for trial in study.trials}
        front = {trial.config["x"] for trial in study.front()}
        for x, (a, b) in rows.items():
            beaten = any(c <= a and d <= b and (c, d) != (a, b) for c, d in rows.values())
            self.assertEqual(x in front, not beaten)


if __name__ == "__main__":
    unittest.main()

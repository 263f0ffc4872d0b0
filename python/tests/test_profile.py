# SPDX-License-Identifier: BSD-3-Clause
"""Looks up what the program has tuned, through libsweetspot."""

import json
import os
import tempfile
import unittest

import sweetspot
from sweetspot._command import run


class Lookup(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.path = os.path.join(cls.folder.name, "profile.json")
        entry = {"kernel": "fw", "objective": "time", "unit": "s", "problem": {"n": 48}, "config": {"threads": 3, "block": 16},
                 "environment": {}, "median": 0.5, "speedup": {"ratio": 2.5}, "state": "current"}
        machine = json.loads(run(["machine", "--json"]))
        with open(cls.path, "w", encoding="utf-8") as file:
            json.dump({"schema": "sweetspot-profile/1", "generator": "test", "created": "2026-01-01T00:00:00Z",
                       "machine": machine, "entries": [entry]}, file)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def test_lookup(self):
        match = sweetspot.lookup("fw", n=48, profile=self.path)
        self.assertEqual((match.status, match.config), ("exact", {"threads": 3, "block": 16}))
        self.assertEqual((match.predicted, match.speedup, match.unit), (0.5, 2.5, "s"))
        self.assertNotEqual(sweetspot.lookup("fw", n=96, profile=self.path).status, "exact")
        self.assertIsNone(sweetspot.lookup("unknown", n=48, profile=self.path))

    def test_profile(self):
        with sweetspot.Profile(self.path) as profile:
            self.assertEqual(profile.kernels(), ["fw"])
            self.assertIsNone(profile.lookup("fw", n=48, type="nonsense"))
        self.assertRaises(sweetspot.SweetspotError, sweetspot.Profile, "/nonexistent.json")

    def test_decorator(self):
        @sweetspot.tuned("fw", lambda n, **_: {"n": n}, profile=self.path)
        def run_fw(n, threads=0, block=0):
            return threads, block

        match = sweetspot.lookup("fw", n=48, profile=self.path)
        self.assertEqual(run_fw(48)[0], match.config["threads"])
        self.assertEqual(run_fw(48, threads=77)[0], 77)
        self.assertEqual(sweetspot.tuned("fw", lambda n: {"n": n}, profile="/nonexistent")(lambda n, threads=5: threads)(1), 5)


if __name__ == "__main__":
    unittest.main()

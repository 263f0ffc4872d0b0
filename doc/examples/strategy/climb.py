#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A search strategy of one's own: from the best so far, one parameter takes another value.

    sweetspot tune gol --strategy ./climb.py --budget 50e
"""
import random

import sweetspot


class Climb(sweetspot.Strategy):
    def begin(self):
        self.random = random.Random(self.seed)
        self.best, self.least = None, None

    def ask(self):
        if not self.best:
            return None  # a random one
        name = self.random.choice(list(self.params))
        return {**self.best, name: self.random.choice(self.params[name])}

    def tell(self, config, value):
        if value is not None and (self.least is None or value < self.least):
            self.best, self.least = config, value


Climb.serve()

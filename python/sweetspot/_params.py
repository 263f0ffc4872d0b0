# SPDX-License-Identifier: BSD-3-Clause
"""Parameter values: Python objects on this side, words and numbers on the command line."""

from __future__ import annotations

import importlib
import json
import math
import re
from typing import Any, Dict, List, Mapping, Sequence, Tuple

Value = Any  # a number, a text, or any other object for a callable
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_WORD = re.compile(r"[A-Za-z_][A-Za-z0-9_.+-]*\Z")


def _word(value: Any, index: int) -> str:
    """A number as it is, a simple word as it is, and `v3` for anything else, such as a tuple or None."""
    if isinstance(value, bool) or value is None:
        return "v%d" % index
    if hasattr(value, "item") and not isinstance(value, (str, bytes)):
        value = value.item()  # a scalar of NumPy
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float) and math.isfinite(value):
        return repr(value)
    if isinstance(value, str) and _WORD.match(value) and not re.match(r"v\d+\Z", value):
        return value
    return "v%d" % index


def module(name: str) -> Any:
    """A module that the package does not need, where it is installed: NumPy, pandas, matplotlib."""
    return importlib.import_module(name)


class Space:
    """The values of each parameter with their words, in the given order."""

    def __init__(self, params: Mapping[str, Sequence[Value]]) -> None:
        if not params:
            raise ValueError("params is empty: give at least one parameter with its values")
        self.words: Dict[str, List[str]] = {}
        self.values: Dict[str, List[Any]] = {}
        for name, values in params.items():
            if not isinstance(name, str):
                raise TypeError("the names of parameters must be texts, not %r" % (name,))
            if not _NAME.match(name):
                raise ValueError("%r cannot be the name of a parameter: use letters, digits and _" % name)
            if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
                raise TypeError("the values of %s must be a list, not %r" % (name, values))
            self.values[name] = list(values)
            self.words[name] = [_word(value, i) for i, value in enumerate(self.values[name])]
            if not self.values[name]:
                raise ValueError("the list of values of %s is empty" % name)
            if len(set(self.words[name])) != len(self.words[name]):
                raise ValueError("the values of %s are not distinct: %r" % (name, self.values[name]))

    def word(self, name: str, value: Any) -> str:
        """The word for a value, for example of a default."""
        if name not in self.values:
            raise ValueError("there is no parameter %s" % name)
        for word, known in zip(self.words[name], self.values[name]):
            if type(known) is type(value) and known == value or known is value:
                return word
        for word, known in zip(self.words[name], self.values[name]):
            if known == value:
                return word
        raise ValueError("%r is not among the values of %s: %r" % (value, name, self.values[name]))

    @staticmethod
    def json(word: str) -> Any:
        """A word as the program reads it: a number where it is one."""
        try:
            return json.loads(word)
        except ValueError:
            return word

    def value(self, name: str, word: Any) -> Any:
        """The value for a word, or for the number that the program made of it."""
        for known, value in zip(self.words.get(name, ()), self.values.get(name, ())):
            if known == str(word):
                return value
            if isinstance(word, (int, float)) and not isinstance(word, bool):
                try:
                    if float(known) == float(word):
                        return value
                except ValueError:
                    pass
        return word

    def config(self, config: Mapping[str, Any]) -> Dict[str, Any]:
        """A configuration from a document, with this side's values."""
        return {name: self.value(name, word) for name, word in config.items()}

    def key(self, config: Mapping[str, Any]) -> Tuple[str, ...]:
        """The words of a configuration, in the order of the parameters."""
        return tuple(self.word(name, config[name]) for name in self.words if name in config)

    def first(self) -> Dict[str, Any]:
        return {name: values[0] for name, values in self.values.items()}

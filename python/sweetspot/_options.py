# SPDX-License-Identifier: BSD-3-Clause
"""The options of the program as keyword arguments: stop_when="gain<1%" is --stop-when."""

from __future__ import annotations

import difflib
from typing import Any, Iterable, List, Mapping, Sequence, TypedDict, Union

Many = Union[str, Sequence[str]]


class _Program(TypedDict, total=False):
    """What is run, and how; of tune and compare."""

    before_each: str
    build: str
    counters: Many
    cwd: str
    device: str
    energy_command: str
    expect_files: Union[bool, str]
    expect_output: str
    flush_l2: bool
    input: str
    maximize: bool
    openmp: bool
    ranks: str
    ready: str
    seed: int
    set: Many
    setup: str
    shell: bool
    size: str
    store: str
    teardown: str
    template: Many
    timeout: float


class TuneOptions(_Program, total=False):
    """Options of sweetspot-tune(1)."""

    build_timeout: float
    complete: bool
    force: bool
    gpus: str
    hosts: str
    jobs: int
    kernel: str
    launcher: str
    launcher_args: str
    no_regions: bool
    no_transfer: bool
    nodes: int
    objective: str
    oversubscribe: bool
    range: Many
    rebuild: bool
    regions: bool
    resume: bool
    sizes: str
    srun_args: str
    stop_when: str
    strategy: str
    watch: str


class CompareOptions(_Program, total=False):
    """Options of sweetspot-compare(1)."""

    budget: str
    constraint: Many
    default: Many
    junit: str
    max_pairs: int
    metric: str
    name: str
    no_store: bool
    pairs: int
    param: Many
    samples: int
    verify: str


class ReplayOptions(TypedDict, total=False):
    """Options of sweetspot-replay(1)."""

    baseline: str
    batch: int
    budget: str
    counters: bool
    jobs: int
    maximize: str
    minimize: str
    no_counters: bool
    noise: str
    parameters: str
    repeat: int
    seed: int
    stop_when: str
    strategy: str
    unit: str
    value: str
    # "from" is a word of Python: replay(.., **{"from": ["a.json"]})


def names_of(options: type) -> List[str]:
    """The names of a TypedDict and of those that it extends: __annotations__ has both."""
    return list(options.__annotations__)


def unknown(function: str, names: Iterable[str], known: Iterable[str]) -> None:
    """TypeError for the first name that is not known."""
    known = sorted(known)
    for name in names:
        if name not in known:
            near = difflib.get_close_matches(name, known, 1)
            hint = "; did you mean %r?" % near[0] if near else ""
            raise TypeError("%s() got an unexpected keyword argument %r%s" % (function, name, hint))


def words_of(options: Mapping[str, Any]) -> List[str]:
    """Keyword arguments as options: True is a switch, a list several of them."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                words.append(option)
            elif each is not None and each is not False:
                words.append("%s=%s" % (option, each))
    return words


def budget_of(budget: Union[str, int, float]) -> str:
    """A number is seconds."""
    return budget if isinstance(budget, str) else "%gs" % budget

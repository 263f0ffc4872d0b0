# SPDX-License-Identifier: BSD-3-Clause
"""tune, compare and replay."""

from __future__ import annotations

import hashlib
import inspect
import json
import os
import re
import sqlite3
import sys
import tempfile
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Union
from urllib.parse import quote

from . import _client
from ._command import document
from ._params import Space, Value
from ._results import Checked, Comparison, Replay, Result, Trial, inverse, measurement, ratio
from ._serve import Server
from ._worker import Job

# Reads the client's answer: the status, and the reason of any other than "right". 77 says that nothing could be checked.
_VERIFY = """read -r said; test "$said" != right || exit 0; read -r why; echo "$why"; test "$said" != unchecked || exit 77; exit 1 # %s"""
Command = Union[str, Sequence[Union[str, "os.PathLike[str]"]]]
Params = Mapping[str, Sequence[Value]]


def _options(options: Mapping[str, Any]) -> List[str]:
    """Keyword arguments as options: stop_when="gain<1%" is --stop-when, True a switch, a list several of them."""
    words = []
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for each in value if isinstance(value, (list, tuple)) else [value]:
            if each is True:
                words.append(option)
            elif each is not None and each is not False:
                words.append("%s=%s" % (option, each))
    return words


def _budget(budget: Union[str, int, float]) -> str:
    """A number is seconds."""
    return budget if isinstance(budget, str) else "%gs" % budget


def _trials(space: Optional[Space], result: Mapping[str, Any], options: Mapping[str, Any]) -> List[Trial]:
    """Every trial of the search, from the store."""
    path = options.get("store") or document(["store", "info", "--json"])["path"]
    if not os.path.exists(path):
        return []
    store = sqlite3.connect("file:%s?mode=ro" % quote(os.path.abspath(path)), uri=True, timeout=10)
    try:
        rows = store.execute(
            "SELECT phase, config, status, value, message FROM trials WHERE search = ? ORDER BY id", (result["search"],)
        ).fetchall()
    finally:
        store.close()
    trials = []
    for phase, text, status, value, message in rows:
        config = json.loads(text)
        good = status in ("correct", "censored")
        trials.append(
            Trial(space.config(config) if space else config, value if good else None, phase, status, message)
        )
    return trials


def _result(found: Mapping[str, Any], space: Optional[Space], options: Mapping[str, Any]) -> Result:
    result = found["results"][0]
    values: Callable[[Mapping[str, Any]], Dict[str, Any]] = space.config if space else dict
    return Result(
        name=result["kernel"],
        verdict=result["verdict"],
        speedup=ratio(result["speedup"] or {}),
        best=measurement(result["best"], values),
        baseline=measurement(result["baseline"], values),
        evaluations=result["evaluations"],
        valid=result["space"]["valid"],
        elapsed_s=result["elapsed_s"],
        failures=dict(result["failures"]),
        raw=found,
        checked=_checked(result.get("checked")),
        notes=tuple(result.get("notes") or ()),
        _trials=lambda: _trials(space, result, options),
    )


def _checked(found: Optional[Mapping[str, Any]]) -> Optional[Checked]:
    return Checked(found["how"], found["runs"], found.get("why", "")) if found else None


def _checks_add(result: Dict[str, Any], server: Server, space: Space, verify: Any) -> None:
    """What this process knows about the results of a callable, which the program has not seen."""
    best = result["best"].get("config") or {}
    key = tuple(space.word(name, value) for name, value in space.config(best).items())
    how = {"how": "verify" if callable(verify) else "output same", "runs": server.checked.get(key, 0)}
    result["checked"] = {"how": "nothing", "runs": 0, "why": server.unchecked} if server.unchecked else how
    notes = ["the callable changes %s in place, so it was restored before each call" % name for name in server.changed]
    result["notes"] = [*(result.get("notes") or []), *notes]


def tune(
    target: Union[Callable[..., Any], Command],
    params: Optional[Params] = None,
    *,
    budget: Union[str, int, float] = "60s",
    default: Optional[Mapping[str, Value]] = None,
    constraints: Sequence[str] = (),
    verify: Any = None,
    synchronize: Optional[Callable[[], Any]] = None,
    metric: Optional[str] = None,
    rtol: float = 1e-6,
    name: Optional[str] = None,
    progress: bool = False,
    **options: Any,
) -> Result:
    """Finds the fastest parameters of a Python callable or of a program, and proves them against the default.

    target       a callable, which gets the parameters as keyword arguments; or a command as a list of words, with
                 {NAME} where a value goes, or as one text for the shell
    params       {"NAME": [values]}. Values of a callable may be any objects; the model learns most from numbers
    budget       "60s", "5m", "200e" (evaluations), or seconds as a number
    default      the configuration used today (the first value of each)
    constraints  conditions that a configuration must meet, such as "a * b <= 64"
    verify       a callable: None compares results with the default's (see rtol), a function
                 verify(result, config) says whether a result is right, False accepts everything; a command: a shell
                 line that reads its output, as --verify
    synchronize  called after the callable, for work that goes on elsewhere: torch.cuda.synchronize
    metric       a command: a regular expression for a number in its output. A callable: "returned" minimises what it
                 returns in the place of its time
    name         name of the result in the store; the callable's by default
    options      any other option of sweetspot-tune(1): openmp=True, store="x.db", strategy="random", resume=True

    A callable runs in a process of its own, forked from this one: it keeps what it has compiled, and a crash or a hang
    there costs one trial. The last result of each sample is compared once the clock has stopped; `checked` of the result
    counts these calls, or says why nothing could be checked: the callable returns None or an object that cannot be
    compared, or calls of the default differ from each other. An iterator that it returns is run to its end, which
    counts. Arrays and lists of 32 numbers or more that it changes in place are restored before each call, and named in
    `notes`. Raises SweetspotError where the program fails, ValueError for wrong arguments.
    """
    space = Space(params) if params else None
    words = ["tune", "--json", "--budget=" + _budget(budget), *([] if progress else ["--quiet"]), *_options(options)]
    if not callable(target):
        words += _command_words(space, default, constraints, verify, metric)
        return _result(document([*words, *_target(target)], progress=progress), space, options)
    if not space:
        raise ValueError("params is missing: a callable needs parameters to tune")
    start = {**space.first(), **(default or {})}
    job = Job(target, space, start, "baseline" if verify is None else verify, synchronize, metric, rtol)
    with Server(job) as server, tempfile.TemporaryDirectory(prefix="sweetspot-python-") as folder:
        spec = os.path.join(folder, "callable.json")
        with open(spec, "w", encoding="utf-8") as file:
            json.dump(_specification(target, space, start, constraints, name), file)
        found = document(
            [*words, "--spec=" + spec],
            progress=progress,
            env={"SWEETSPOT_PYTHON_SOCKET": server.path},
            meanwhile=server.serve,
        )
        _checks_add(found["results"][0], server, space, verify)
    return _result(found, space, options)


def _command_words(space: Optional[Space], default: Any, constraints: Sequence[str], verify: Any, metric: Any) -> List[str]:
    words = []
    for name in space.words if space else ():
        assert space
        odd = [value for value, word in zip(space.values[name], space.words[name]) if str(value) != word]
        if odd:
            raise ValueError("%s: %r cannot be passed to a program; use numbers and simple words" % (name, odd[0]))
        words.append("--param=%s=%s" % (name, ",".join(space.words[name])))
    for name, value in (default or {}).items():
        words.append("--default=%s=%s" % (name, space.word(name, value) if space else value))
    words += ["--constraint=" + constraint for constraint in constraints]
    if verify:
        words.append("--verify=%s" % verify)
    if metric:
        words.append("--metric=%s" % metric)
    return words


def _target(target: Command) -> List[str]:
    if isinstance(target, str):
        return ["--shell", "--", target]
    return ["--", *(os.fspath(word) for word in target)]


def _specification(
    function: Callable[..., Any], space: Space, default: Mapping[str, Any], constraints: Sequence[str], name: Optional[str]
) -> Dict[str, Any]:
    """A T1 specification whose program is the client. Its words tell versions of the callable apart."""
    title = name or re.sub(r"\W+", "_", getattr(function, "__qualname__", type(function).__name__)).strip("_") or "callable"
    try:
        source = inspect.getsource(function)
    except (OSError, TypeError):
        source = ""
    version = hashlib.sha256(source.encode()).hexdigest()[:16]
    return {
        "General": {"BenchmarkName": title},
        "ConfigurationSpace": {
            "TuningParameters": [
                {
                    "Name": each,
                    "Type": "string",
                    "Values": [_json(word) for word in words],
                    "Default": _json(space.word(each, default[each])),
                }
                for each, words in space.words.items()
            ],
            "Conditions": [{"Expression": constraint} for constraint in constraints],
        },
        "KernelSpecification": {
            "Language": "Command",
            "Command": [sys.executable, "-I", "-S", _client.__file__, *("{%s}" % each for each in space.words)],
            "Metric": "^value ([0-9.e+-]+)$",
            "Verify": _VERIFY % version,
        },
    }


def _json(word: str) -> Any:
    try:
        return json.loads(word)
    except ValueError:
        return word


def compare(a: Any, b: Any, *, kernel: Optional[str] = None, progress: bool = False, **options: Any) -> Comparison:
    """Compares two configurations of a kernel (`kernel`), or two commands, in interleaved pairs.

    a, b: a mapping of settings for a kernel; a command otherwise, as a list of words or one text for the shell.
    """
    words = ["compare", "--json", *([] if progress else ["--quiet"]), *_options(options)]
    if kernel:
        words += [kernel, *(" ".join("%s=%s" % each for each in side.items()) for side in (a, b))]
    else:
        words += [_line(a), _line(b)]
    found = document(words, progress=progress)
    sides = [measurement(found[side], dict) for side in ("a", "b")]
    return Comparison(found["verdict"], inverse(ratio(found)), sides[0], sides[1], found)


def _line(command: Command) -> str:
    import shlex

    return command if isinstance(command, str) else shlex.join(os.fspath(word) for word in command)


def replay(space: Union[str, "os.PathLike[str]"], **options: Any) -> Replay:
    """Plays a search strategy on a recorded space, for example replay("x.json.gz", strategy="auto", repeat=25)."""
    found = document(["replay", "--json", "--quiet", *_options(options), os.fspath(space)])
    return Replay(found.get("space", {}), found.get("runs", []), found)


# SPDX-License-Identifier: BSD-3-Clause
"""tune, compare and replay."""

from __future__ import annotations

import asyncio
import functools
import hashlib
import inspect
import json
import os
import random
import re
import shlex
import sys
import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Sequence, Union

from . import _client
from ._command import CallableError, Running, SweetspotError, document, rest
from ._options import CompareOptions, ReplayOptions, TuneOptions, budget_of, names_of, unknown, words_of
from ._params import Space, Value
from ._results import Checked, Comparison, Replay, Result, Trial, inverse, measurement, ratio
from ._serve import Server
from ._watch import Line, Reader, Watch, wants_line
from ._worker import Job

if TYPE_CHECKING:
    from typing_extensions import Unpack

# Reads the client's answer: the status, and the reason of any other than "right". 77 says that nothing could be checked.
_VERIFY = """read -r said; test "$said" != right || exit 0; read -r why; echo "$why"; test "$said" != unchecked || exit 77; exit 1 # %s"""
Command = Union[str, Sequence[Union[str, "os.PathLike[str]"]]]
Params = Mapping[str, Sequence[Value]]


def _result(found: Mapping[str, Any], reader: Reader) -> Result:
    result = found["results"][0]
    values: Callable[[Mapping[str, Any]], Dict[str, Any]] = reader.space.config if reader.space else dict
    return Result(
        name=result["kernel"],
        verdict=result["verdict"],
        speedup=ratio(result["speedup"] or {}),
        best=measurement(result.get("best") or result["baseline"], values),
        baseline=measurement(result["baseline"], values),
        evaluations=result["evaluations"],
        valid=result["space"]["valid"],
        elapsed_s=result["elapsed_s"],
        failures=dict(result["failures"]),
        raw=found,
        checked=_checked(result.get("checked")),
        notes=tuple(result.get("notes") or ()),
        _trials=functools.partial(reader.trials, result["search"]),
    )


def run_search(
    words: List[str],
    options: Mapping[str, Any],
    reader: Reader,
    name: str,
    on_trial: Optional[Callable[[Trial], Any]],
    progress: Optional[bool],
    server: Optional[Server] = None,
    extra: Optional[Mapping[str, str]] = None,
) -> Dict[str, Any]:
    """Runs `sweetspot tune WORD..`; Ctrl-C and an on_trial that returns False end it with what is known."""
    seed = None if options.get("resume") else int(options.get("seed", random.getrandbits(62)))
    line = Line(name, next(word[9:] for word in words if word.startswith("--budget="))) if wants_line(progress) else None
    watch = Watch(reader, seed, on_trial, line)
    last: List[Running] = []

    def turn(running: Running) -> None:
        last[:] = [running]
        watch.look(running)
        if server:
            server.turn(running)
        else:
            rest(running)

    given = {k: v for k, v in options.items() if k != "seed"}
    seeds = [] if seed is None else ["--seed=%d" % seed]
    warned: List[str] = []
    env = dict(extra or {}, SWEETSPOT_COMMAND=typed(name))
    try:
        found: Dict[str, Any] = document([words[0], "--json", "--quiet", *words_of(given), *seeds, *words[1:]], env, turn, warned)
        if last:
            watch.look(last[0], at_once=True)
    except SweetspotError as error:
        if error.status != 2 or "too short" not in str(error):
            raise
        found = _unfinished(reader, seed, error)
    finally:
        if line:
            line.end()
    if not found["results"]:
        raise SweetspotError("it was ended before anything was measured", status=3)
    result = found["results"][0]
    result["notes"] = [*(result.get("notes") or []), *warned]
    return found


def _unfinished(reader: Reader, seed: Optional[int], error: SweetspotError) -> Dict[str, Any]:
    """A budget that is too short for a second configuration is an error of the program; the baseline is known, though."""
    rows = reader.query("SELECT id, kernel, valid FROM searches WHERE seed = ? ORDER BY id DESC LIMIT 1", (seed,))
    trials = reader.trials(rows[0][0]) if rows else []
    if not trials or trials[0].value is None:
        raise error
    setup = {"config": reader.words(trials[0].config), "median": trials[0].value}
    result = {"kernel": rows[0][1], "verdict": "undecided", "speedup": None, "best": setup, "baseline": setup, "search": rows[0][0]}
    result.update(evaluations=1, space={"valid": rows[0][2]}, elapsed_s=0.0, failures={}, notes=[str(error)], checked=None)
    return {"results": [result]}


def typed(name: str) -> str:
    """The command that makes the same search again, for people: the script, where there is one."""
    main = getattr(sys.modules.get("__main__"), "__file__", None)
    if main and os.path.exists(main) and not os.path.abspath(main).startswith(os.path.dirname(__file__)):
        return shlex.join(["python3", *[os.fspath(word) for word in (sys.argv if sys.argv and sys.argv[0] else [main])]])
    return "sweetspot.tune(%s, ..)" % name


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
    progress: Optional[bool] = None,
    on_trial: Optional[Callable[[Trial], Any]] = None,
    **options: "Unpack[TuneOptions]",
) -> Result:
    """Finds the fastest parameters of a Python callable or of a program, and proves them against the default.

    target       a callable, which gets the parameters as keyword arguments, and a `trial` if it has such an argument; or
                 a command as a list of words, with {NAME} where a value goes, or as one text for the shell
    params       {"NAME": [values]}. Values of a callable may be any objects; the model learns most from numbers
    budget       "60s", "5m", "200e" (evaluations), or seconds as a number
    default      the configuration used today (the first value of each)
    constraints  conditions that a configuration must meet, such as "a * b <= 64"
    verify       a callable: None compares results with the default's (see rtol), a function
                 verify(result, config) says whether a result is right, False accepts everything; a command: a shell
                 line that reads its output, as --verify
    synchronize  called after the callable, for work that goes on elsewhere: torch.cuda.synchronize
    metric       a callable: None is its time, "returned" the cost that it returns, which is minimised: a number, or
                 the first of a dictionary of numbers, all of which the trials keep; the name of one of these numbers; a
                 command: a regular expression that finds the number in its output, as --metric
    rtol         how far the floating-point numbers of a result may be from the default's
    name         the name of the results (the callable's, or what does the work)
    progress     show a line that is updated (by default in a terminal and in a notebook)
    on_trial     is called with each Trial as it comes; returning False ends the search with its result
    options      those of sweetspot-tune(1), see TuneOptions: strategy="bayes", store="a.db", stop_when="gain<1%",
                 resume=True

    A callable runs in a process of its own, a new Python to which it is sent with what it uses. Ctrl-C ends the search
    with its result. Raises SweetspotError where the program fails, with the callable's exception as its `__cause__`;
    TypeError and ValueError for wrong arguments.
    """
    unknown("tune", options, names_of(TuneOptions))
    if not all(isinstance(each, str) for each in constraints):
        raise ValueError('constraints are texts, such as "a * b <= 64": write a function as one')
    space = Space(params) if params else None
    words = ["tune", "--budget=" + budget_of(budget)]
    if not callable(target):
        title = name or (target if isinstance(target, str) else os.path.basename(os.fspath(target[0])))
        words += _command_words(space, default, constraints, verify, metric, name)
        reader = Reader(space, options)
        found = run_search([*words, *_target_words(target)], options, reader, title, on_trial, progress)
        return _result(found, reader)
    if not space:
        raise ValueError("params is missing: a callable needs parameters to tune")
    start = {**space.first(), **(default or {})}
    title = name or re.sub(r"\W+", "_", getattr(target, "__qualname__", type(target).__name__).split(".")[-1]).strip("_") or "callable"
    with Server(Job(target, space, start, "baseline" if verify is None else verify, synchronize, metric, rtol)) as server:
        reader = Reader(space, options, server.metrics)
        spec = os.path.join(server.folder.name, "callable.json")
        with open(spec, "w", encoding="utf-8") as file:
            json.dump(_specification(target, space, start, constraints, title, metric), file)
        env = {"SWEETSPOT_PYTHON_SOCKET": server.path}
        try:
            found = run_search([*words, "--spec=" + spec], options, reader, title, on_trial, progress, server, env)
        except SweetspotError as error:
            raise error from (CallableError("\n" + server.traceback) if server.traceback else None)
        _checks_add(found["results"][0], server, space, verify)
    return _result(found, reader)


async def tune_async(*args: Any, **kwargs: Any) -> Result:
    """tune() beside other tasks of an event loop. Where its task is cancelled, the search ends after its next trial."""
    cancelled = threading.Event()
    on_trial = kwargs.pop("on_trial", None)

    def told(trial: Trial) -> Any:
        return False if cancelled.is_set() else on_trial(trial) if on_trial else None

    work = functools.partial(tune, *args, on_trial=told, **kwargs)
    try:
        return await asyncio.get_running_loop().run_in_executor(None, work)
    except asyncio.CancelledError:
        cancelled.set()
        raise


def _command_words(
    space: Optional[Space], default: Any, constraints: Sequence[str], verify: Any, metric: Any, name: Optional[str]
) -> List[str]:
    words = ["--name=" + name] if name else []
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


def _target_words(target: Command) -> List[str]:
    if isinstance(target, str):
        return ["--shell", "--", target]
    return ["--", *(os.fspath(word) for word in target)]


def _specification(
    function: Callable[..., Any],
    space: Space,
    default: Mapping[str, Any],
    constraints: Sequence[str],
    title: str,
    metric: Optional[str],
) -> Dict[str, Any]:
    """A T1 specification whose program is the client. Its words tell versions of the callable apart."""
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
                    "Values": [Space.json(word) for word in words],
                    "Default": Space.json(space.word(each, default[each])),
                }
                for each, words in space.words.items()
            ],
            "Conditions": [{"Expression": constraint} for constraint in constraints],
        },
        "KernelSpecification": {
            "Language": "Command",
            "Command": [sys.executable, "-I", "-S", _client.__file__, *("{%s}" % each for each in space.words)],
            "Call": "%s(%s)" % (title, ", ".join("%s={%s}" % (each, each) for each in space.words)),
            "Metric": "^seconds (>?[0-9.e+-]+)$",
            "Verify": _VERIFY % version,
        },
    }


def compare(
    a: Any, b: Any, *, kernel: Optional[str] = None, progress: Optional[bool] = None, **options: "Unpack[CompareOptions]"
) -> Comparison:
    """Compares two configurations of a kernel (`kernel`), or two commands, in interleaved pairs.

    a, b: a mapping of settings for a kernel; a command otherwise, as a list of words or one text for the shell.
    options: those of sweetspot-compare(1), see CompareOptions. `progress` is accepted for symmetry with tune.
    """
    unknown("compare", options, names_of(CompareOptions))
    words = ["compare", "--json", "--quiet", *words_of(options)]
    if kernel:
        words += [kernel, *(" ".join("%s=%s" % each for each in side.items()) for side in (a, b))]
    else:
        words += [_line(a), _line(b)]
    found = document(words)
    sides = [measurement(found[side], dict) for side in ("a", "b")]
    return Comparison(found["verdict"], inverse(ratio(found)), sides[0], sides[1], found)


def _line(command: Command) -> str:
    return command if isinstance(command, str) else shlex.join(os.fspath(word) for word in command)


def replay(space: Union[str, "os.PathLike[str]"], **options: Any) -> Replay:  # "from" is no name of a TypedDict
    """Plays a search strategy on a recorded space, for example replay("x.json.gz", strategy="auto", repeat=25)."""
    unknown("replay", options, {"from", *names_of(ReplayOptions)})
    found = document(["replay", "--json", "--quiet", *words_of(options), os.fspath(space)])
    return Replay(found.get("space", {}), found.get("runs", []), found)


# SPDX-License-Identifier: BSD-3-Clause
"""Kernel Tuner's files: the cache, the results (T4) and the metadata."""

from __future__ import annotations

import json
import os
import time
from datetime import datetime, timezone
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence

from .._command import SweetspotError, document
from ._launch import plain

Row = Dict[str, Any]
TIMES = ("compile_time", "verification_time", "benchmark_time", "strategy_time", "framework_time")
# What is in the place of a value where a configuration has none, in files and in results.
FAILURES = {"constraints": "InvalidConfig", "compile": "CompilationFailedConfig", "runtime": "RuntimeFailedConfig", "correctness": "RuntimeFailedConfig"}
EVERY_S = 5.0


class ErrorConfig(str):
    """In the place of a value: the configuration has none. `message` says why."""

    message = ""


def failure(status: str, message: str) -> ErrorConfig:
    made = ErrorConfig(FAILURES.get(status, "RuntimeFailedConfig"))
    made.message = message
    return made


def is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _default(value: Any) -> Any:
    return value.tolist() if hasattr(value, "tolist") else str(value)


def _write(path: str, found: Mapping[str, Any]) -> None:
    made = "%s.%d" % (path, os.getpid())
    with open(made, "w", encoding="utf-8") as file:
        json.dump(found, file, default=_default, indent=1)
    os.replace(made, path)


def json_name(path: Any) -> str:
    text = str(path)
    return text if text.endswith(".json") else text + ".json"


class Cache:
    """`cache=`: read at the start, written again and again."""

    def __init__(self, path: Any, kernel: str, params: Mapping[str, Sequence[Any]], problem: Any, objective: str) -> None:
        self.path = json_name(path)
        self.head: Dict[str, Any] = {
            "schema_version": "1.0.0",
            "device_name": "",
            "kernel_name": kernel,
            "problem_size": "function" if callable(problem) else problem,
            "tune_params_keys": list(params),
            "tune_params": {name: list(values) for name, values in params.items()},
            "objective": objective,
        }
        self.rows: Dict[str, Row] = {}
        self.written = time.monotonic()
        if os.path.exists(self.path):
            self._read()

    def _read(self) -> None:
        with open(self.path, encoding="utf-8") as file:
            text = file.read().rstrip()
        try:
            found = json.loads(text)
        except ValueError:  # Kernel Tuner closes the file at the end of a search only
            found = json.loads(text.rstrip(",") + "}}")
        for key in ("kernel_name", "tune_params_keys"):
            if found.get(key) != self.head[key]:
                raise ValueError("the cache %s is of another search: its %s is %r" % (self.path, key, found.get(key)))
        self.head["device_name"] = found.get("device_name", "")
        self.rows = dict(found["cache"])

    @staticmethod
    def key(config: Mapping[str, Any]) -> str:
        return ",".join(str(value) for value in config.values())

    def find(self, config: Mapping[str, Any]) -> Optional[Row]:
        row = self.rows.get(self.key(config))
        if row is None:
            return None
        return {k: ErrorConfig(v) if v in FAILURES.values() else v for k, v in row.items() if k != "__error__"} | {
            k: v for k, v in row.items() if k == "__error__"
        }

    def add(self, config: Mapping[str, Any], row: Row, device: str) -> None:
        self.head["device_name"] = device
        self.rows[self.key(config)] = row
        if time.monotonic() - self.written > EVERY_S:
            self.write()

    def write(self) -> None:
        self.written = time.monotonic()
        _write(self.path, dict(self.head, cache=self.rows))


def _invalidity(value: Any) -> str:
    words = {"InvalidConfig": "constraints", "CompilationFailedConfig": "compile", "RuntimeFailedConfig": "runtime"}
    return "correct" if is_number(value) else words.get(str(value), "runtime")


def _measurements(row: Row, params: Iterable[str]) -> List[Dict[str, Any]]:
    left_out = {*params, *TIMES, "times", "timestamp"}
    return [{"name": name, "value": plain(value), "unit": "ms" if name == "time" else ""} for name, value in row.items()
            if name not in left_out and is_number(plain(value))]  # fmt: skip


def _result(row: Row, params: Sequence[str], objective: str) -> Dict[str, Any]:
    invalid = _invalidity(plain(row.get(objective)))
    return {
        "timestamp": row.get("timestamp", ""),
        "configuration": {name: row[name] for name in params if name in row},
        "objectives": [objective],
        "times": {
            "compilation_time": row.get("compile_time", 0),
            "framework": row.get("framework_time", 0),
            "search_algorithm": row.get("strategy_time", 0),
            "validation": row.get("verification_time", 0),
            "runtimes": list(row.get("times", [])),
        },
        "invalidity": invalid,
        "correctness": int(invalid == "correct"),
        "measurements": _measurements(row, params) if invalid == "correct" else [],
    }


def store_output_file(output_filename: Any, results: Sequence[Row], tune_params: Any, objective: str = "time") -> None:
    """Writes results as a T4 file."""
    names = list(tune_params)
    found = {"schema_version": "1.0.0", "metadata": {"timeunit": "milliseconds"}, "results": [_result(row, names, objective) for row in results]}
    _write(json_name(output_filename), found)


def store_metadata_file(metadata_filename: Any) -> None:
    """Writes what is known of this machine."""
    try:
        machine = document(["machine", "--json", "--quiet"])
    except SweetspotError as error:
        machine = {"error": str(error)}
    _write(json_name(metadata_filename), {"schema_version": "1.0.0", "timestamp": stamp(), "environment": {"machine": machine}})


def stamp() -> str:
    return datetime.now(timezone.utc).isoformat()

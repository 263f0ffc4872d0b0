# SPDX-License-Identifier: BSD-3-Clause
"""Finds and runs the program `sweetspot`."""

from __future__ import annotations

import ctypes
import json
import os
import shutil
import signal
import subprocess
import tempfile
from typing import IO, Any, Callable, Mapping, Optional, Sequence


class SweetspotError(Exception):
    """The program failed. `status` is its exit status, `hint` its advice, both as sweetspot(1) describes them."""

    def __init__(self, message: str, status: int = 1, hint: str = "") -> None:
        super().__init__(message + (" (%s)" % hint if hint else ""))
        self.status = status
        self.hint = hint


def program() -> str:
    """The path of `sweetspot`: $SWEETSPOT, or the first one in PATH."""
    named = os.environ.get("SWEETSPOT")
    found = shutil.which(named) if named else shutil.which("sweetspot")
    if not found:
        raise SweetspotError(
            "cannot find %s" % (named or "the program sweetspot"),
            status=127,
            hint="install Sweetspot and put it into PATH, or set SWEETSPOT to its path",
        )
    return found


def _failure(status: int, errors: str) -> SweetspotError:
    what, hint = "sweetspot ended with status %d" % status, ""
    for line in errors.splitlines():
        if line.startswith("sweetspot: error: "):
            what = line[len("sweetspot: error: ") :]
        elif line.strip().startswith("hint: "):
            hint = line.strip()[len("hint: ") :]
    if what.startswith("sweetspot ended") and errors.strip():
        what += ": " + errors.strip().splitlines()[-1]
    return SweetspotError(what, status, hint)


def run(
    words: Sequence[str],
    progress: bool = False,
    env: Optional[Mapping[str, str]] = None,
    meanwhile: Optional[Callable[[subprocess.Popen], None]] = None,
    accepted: Sequence[int] = (0,),
) -> str:
    """Runs `sweetspot WORD...` and returns its standard output.

    `meanwhile` is called with the running process and must return when that has ended. An interrupt (Ctrl-C) reaches
    the program as well, which then ends in order.
    """
    # Files and not pipes: nobody reads while `meanwhile` works, and a full pipe would stop the program.
    with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:
        process = subprocess.Popen(
            [program(), *words],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=None if progress else errors,
            env=dict(os.environ, **(env or {})),
            preexec_fn=_death_signal(),
        )
        try:
            if meanwhile:
                meanwhile(process)
            process.wait()
        except BaseException:
            _end(process)
            raise
        if process.returncode not in accepted:
            raise _failure(process.returncode, _text(errors))
        return _text(output)


def _death_signal() -> Optional[Callable[[], None]]:
    """What the program does before it starts, so that it ends in order, with its results, when this process is killed.

    Elsewhere than on Linux it does nothing, and the program runs on.
    """
    PR_SET_PDEATHSIG = 1
    try:
        prctl = ctypes.CDLL(None).prctl
    except (AttributeError, OSError):
        return None
    parent = os.getpid()

    def end_with_parent() -> None:
        prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
        if os.getppid() != parent:
            os._exit(0)

    return end_with_parent


def _text(file: IO[bytes]) -> str:
    file.seek(0)
    return file.read().decode("utf-8", "replace")


def _end(process: subprocess.Popen) -> None:
    """Ends the program as Ctrl-C does, so that its results are kept; by force if it takes over half a minute."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def document(words: Sequence[str], **options: Any) -> Any:
    """The JSON document that `sweetspot WORD...` prints."""
    output = run(words, **options)
    try:
        return json.loads(output)
    except ValueError as error:
        raise SweetspotError("sweetspot printed no JSON document: %s" % error) from None

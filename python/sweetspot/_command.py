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
from typing import IO, Any, Callable, List, Mapping, Optional, Sequence


class SweetspotError(Exception):
    """The program failed. `status` is its exit status, `hint` its advice, both as sweetspot(1) describes them.

    Where an exception of a callable is the reason, `__cause__` is a CallableError with its traceback."""

    def __init__(self, message: str, status: int = 1, hint: str = "") -> None:
        super().__init__(message + (" (%s)" % hint if hint else ""))
        self.status = status
        self.hint = hint


class CallableError(Exception):
    """An exception that a callable has raised in its worker; the text is its traceback."""


def program() -> str:
    """The path of `sweetspot`: $SWEETSPOT, the one in this package's wheel, or the first one in PATH."""
    named = os.environ.get("SWEETSPOT")
    inside = os.path.join(os.path.dirname(__file__), "installed", "bin", "sweetspot")
    found = shutil.which(named or (inside if os.path.exists(inside) else "sweetspot"))
    if not found:
        raise SweetspotError(
            "cannot find %s" % (named or "the program sweetspot"),
            status=127,
            hint="install Sweetspot and put it into PATH, or set SWEETSPOT to its path",
        )
    return found


def failure(status: int, errors: str) -> SweetspotError:
    what, hint = "sweetspot ended with status %d" % status, ""
    for line in errors.splitlines():
        if line.startswith("sweetspot: error: "):
            what = line[len("sweetspot: error: ") :]
        elif line.strip().startswith("hint: "):
            hint = line.strip()[len("hint: ") :]
    if what.startswith("sweetspot ended") and errors.strip():
        what += ": " + errors.strip().splitlines()[-1]
    return SweetspotError(what, status, hint)


class Running:
    """The program at work. It is in a session of its own, so that Ctrl-C reaches this process first."""

    def __init__(self, words: Sequence[str], env: Mapping[str, str]) -> None:
        command = [program(), *words]
        # Files and not pipes: nobody reads while callables work, and a full pipe would stop the program.
        self.output, self.errors = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.stopped = False
        self.process = subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=self.output,
            stderr=self.errors,
            env=dict(os.environ, **env),
            start_new_session=True,
            preexec_fn=death_signal(),
        )

    def alive(self) -> bool:
        return self.process.poll() is None

    def stop(self) -> None:
        """Has the program end in order, with its results."""
        if not self.stopped and self.alive():
            self.process.send_signal(signal.SIGINT)
        self.stopped = True

    def wait(self, turn: Callable[["Running"], None]) -> None:
        """Returns when it has ended. The first Ctrl-C stops it, the second one is raised."""
        try:
            while self.alive():
                try:
                    turn(self)
                except KeyboardInterrupt:
                    if self.stopped:
                        raise
                    self.stop()
        except BaseException:
            _end(self.process)
            raise

    def close(self) -> None:
        self.output.close()
        self.errors.close()


def rest(running: Running) -> None:
    try:
        running.process.wait(0.1)
    except subprocess.TimeoutExpired:
        pass


def run(
    words: Sequence[str],
    env: Optional[Mapping[str, str]] = None,
    turn: Callable[[Running], None] = rest,
    warned: Optional[List[str]] = None,
) -> str:
    """Runs `sweetspot WORD...` and returns its standard output; its warnings are added to `warned`.

    `turn` is called again and again until the program has ended.
    """
    running = Running(words, env or {})
    try:
        running.wait(turn)
        errors, output = _text(running.errors), _text(running.output)
    finally:
        running.close()
    begin = "sweetspot: warning: "
    if warned is not None:
        warned += [line[len(begin) :] for line in errors.splitlines() if line.startswith(begin)]
    if running.stopped and not output.strip():
        raise KeyboardInterrupt
    if running.process.returncode and not running.stopped:
        raise failure(running.process.returncode, errors)
    return output


def death_signal() -> Optional[Callable[[], None]]:
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


def _end(process: "subprocess.Popen[bytes]") -> None:
    """Ends the program as Ctrl-C does, so that its results are kept; by force if it takes over half a minute."""
    process.terminate()
    try:
        process.wait(30)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def document(
    words: Sequence[str],
    env: Optional[Mapping[str, str]] = None,
    turn: Callable[[Running], None] = rest,
    warned: Optional[List[str]] = None,
) -> Any:
    """The JSON document that `sweetspot WORD...` prints."""
    output = run(words, env, turn, warned)
    try:
        return json.loads(output)
    except ValueError as error:
        raise SweetspotError("sweetspot printed no JSON document: %s" % error) from None

# SPDX-License-Identifier: GPL-3.0-or-later
"""One worker for all measurements on a GPU: its context, its inputs and its compiled code stay.

A figure is the least of its samples, as a busy host only ever adds to them; JSON has them all."""
import json
import os
import subprocess
import sys
import time

BUILD = os.environ.get("BUILDDIR", "build")
WORKER = os.environ.get("SWEETSPOT_WORKER", os.path.join(BUILD, "sweetspot-worker"))
DEVICE = os.environ.get("DEVICE", "cuda:0")


def words(text):
    """'a=1 b=x' as an object; numbers as numbers."""
    out = {}
    for word in text.split():
        name, value = word.split("=", 1)
        for kind in (int, float, str):
            try:
                out[name] = kind(value)
                break
            except ValueError:
                pass
    return out


class Device:
    def __init__(self):
        self.process, self.failed = None, []

    def ask(self, request):
        if self.process is None or self.process.poll() is not None:
            self.process = subprocess.Popen([WORKER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process.wait()
            self.process = None
            return {"status": "runtime", "message": "the worker ended"}
        answer = json.loads(line)
        if answer.get("ending"):
            self.process.wait()
            self.process = None
        return answer

    def drop(self):
        if self.process is not None:
            self.ask({"op": "drop"})

    def trial(self, kernel, problem, config, samples=5, verify=True, min_sample_s=0.0, **more):
        """The answer; None where it failed, which is said."""
        start = time.time()
        answer = self.ask({"op": "trial", "kernel": kernel, "device": DEVICE, "problem": words(problem),
                           "config": words(config), "samples": samples, "warmup": 1, "min_sample_s": min_sample_s,
                           "verify": verify, **more})
        what = f"{kernel} {problem} {config}"
        if answer.get("status") != "correct":
            self.failed.append(what)
            said = answer.get("message") or answer.get("error", {}).get("what")
            print(f"FAIL {what}: {answer.get('status')}: {said}", file=sys.stderr, flush=True)
            return None
        figures = " ".join(f"{f['name']}={f['value']:.4g}{f['unit']}" for f in answer.get("figures", []))
        took = f"[{time.time() - start:.1f} s]"
        print(f"     {what}: {1e3 * min(answer['samples']):.5g} ms  {figures}  {took}", file=sys.stderr, flush=True)
        return answer

    def best(self, kernel, problem, configs, **more):
        """(seconds, configuration, answer) of the fastest; None where none worked."""
        found = None
        for config in configs:
            answer = self.trial(kernel, problem, config, **more)
            if answer and (found is None or min(answer["samples"]) < found[0]):
                found = (min(answer["samples"]), config, answer)
        return found


def grid(text, **values):
    """'a={a} b={b}' over all combinations."""
    rows = [{}]
    for name, some in values.items():
        rows = [dict(row, **{name: value}) for row in rows for value in some]
    return [text.format(**row) for row in rows]


def row(rows, name, value, unit, limit=None, wanted=None, **more):
    """A figure beside its limit. wanted: (sign, bound)."""
    ok = None if wanted is None else (value >= wanted[1] if wanted[0] == ">=" else value <= wanted[1])
    rows.append({"name": name, "value": value, "unit": unit, "limit": limit, "wanted": wanted and " ".join(map(str, wanted)),
                 "ok": ok, **more})
    print(f"{'    ' if ok is None else 'ok  ' if ok else 'MISS'} {name:64} {value:>11.4g} {unit:10}"
          f"{'' if limit is None else f' limit {limit:.4g}'}{'' if wanted is None else f' wanted {wanted[0]} {wanted[1]}'}",
          file=sys.stderr, flush=True)


def finish(name, rows, device):
    """JSON on stdout: what was measured, on what, and what failed."""
    json.dump({"part": name, "device": DEVICE, "rows": rows, "failed": device.failed}, sys.stdout, indent=1)
    print()

# SPDX-License-Identifier: GPL-3.0-or-later
# profile FILE PYTHON: entries by calls of kernel(name, n, config, ...) and program(words, ...); machine and top can be
# changed. Sourced by shell tests.
"$SS" machine --json >"$T/machine.json"
"$SS" list kernels --json >"$T/kernels.json"
profile() {
	python3 - "$T" "$@" <<'P'
import json, sys
folder, path, text = sys.argv[1:]
machine = json.load(open(folder + "/machine.json"))
source = {k["name"]: k["source"] for k in json.load(open(folder + "/kernels.json"))}
entries, top = [], {"created": "2026-01-01T00:00:00Z"}
def entry(kernel, problem, config, measured="2026-01-01T00:00:00Z", baseline=None, **more):
    e = {"kernel": kernel, "source": source.get(kernel, "sha256:1"), "problem": problem, "objective": "time", "config": config,
         "environment": {}, "median": 0.5, "ci": [0.4, 0.6], "unit": "s", "baseline": {"config": baseline or {"x": 0}, "median": 1.0,
         "ci": [0.9, 1.1]}, "speedup": {"ratio": 2.0, "ci": [1.9, 2.1]}, "verdict": "faster", "noise_floor": 0.01,
         "state": "current", "provenance": {"version": "0", "command": "sweetspot tune", "strategy": "auto", "seed": 1,
         "evaluations": 9, "measured": measured, "session": 1, "search": 1}}
    e.update(more)
    entries.append(e)
def kernel(name, n, config, **more):
    entry(name, {"n": n}, config, **more)
def program(words, config, **more):
    entry("app", {"command": " ".join(words)}, config, program={"argv": words, "shell": False, "openmp": False,
          "params": {name: "argument" for name in config}}, **more)
exec(text)
json.dump(dict({"schema": "sweetspot-profile/1", "generator": "test", "machine": machine, "entries": entries}, **top),
          open(path, "w"))
P
}
OLDER='machine["compiler"] = "gcc (Debian 9.1.0-1) 9.1.0"; machine["fingerprint"] = "sha256:" + "ab" * 32'
FOREIGN='machine["threads"] += 1; machine["fingerprint"] = "sha256:" + "cd" * 32'

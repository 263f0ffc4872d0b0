# SPDX-License-Identifier: GPL-3.0-or-later
"""The page of a store with 100,000 trials: seconds and bytes."""
import json
import os
import random
import sqlite3
import subprocess
import tempfile
import time

from common import BUILD, figure, finish

TRIALS = int(os.environ.get("REPORT_TRIALS", "100000"))
KERNELS = [("fw", {"n": 1024}), ("gol", {"n": 512}), ("kmeans", {"size": 8}), ("locks", {"n": 20000})]
SWEETSPOT = os.environ.get("SWEETSPOT", os.path.join(BUILD, "sweetspot"))


def config_of(rng):
    return {"threads": 2 ** rng.randrange(8), "block": 8 * 2 ** rng.randrange(7), "chunk": 2 ** rng.randrange(9),
            "schedule": rng.choice(["static", "dynamic", "guided"]), "variant": rng.choice(["naive", "tiled", "simd", "tasks"]),
            "unroll": rng.randrange(1, 17), "proc_bind": rng.choice(["false", "close", "spread"])}


def time_of(config, rng):
    slow = {"naive": 8, "tiled": 3, "simd": 1, "tasks": 4}[config["variant"]]
    return 1e-3 * slow * (1 + abs(config["block"] - 64) / 64) * (0.1 + 1 / config["threads"] + 0.01 * config["threads"]) \
        * (1 + 0.02 * config["unroll"]) * rng.lognormvariate(0, 0.03)


def fill(path, environment):
    """A store as the program makes it, then rows of its tables."""
    subprocess.run([SWEETSPOT, "sweep", "fw", "n=16", "--over", "threads=1,2", "--store", path, "-q"], env=environment,
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    store, rng = sqlite3.connect(path), random.Random(1)
    session, = store.execute("SELECT id FROM sessions").fetchone()
    sources = {item["name"]: item.get("source", "") for item in
               json.loads(subprocess.run([SWEETSPOT, "list", "kernels", "--json"], env=environment, check=True,
                                         capture_output=True, text=True).stdout)}
    source, = store.execute("SELECT source FROM searches").fetchone()
    columns = "search, phase, block, config, status, value, samples, started, elapsed, disturbed"
    for kernel, problem in KERNELS:
        own = source if kernel == "fw" else sources.get(kernel, "")
        search = store.execute("INSERT INTO searches (session, kernel, source, problem, objective, strategy, seed, valid, state)"
                               " VALUES (?, ?, ?, ?, 'time', 'auto', 1, 1000000, 'interrupted')",
                               (session, kernel, own, json.dumps(problem))).lastrowid
        rows = []
        for i in range(TRIALS // len(KERNELS)):
            config = config_of(rng)
            value = time_of(config, rng)
            bad = rng.random() < 0.02
            rows.append((search, "search", 0, json.dumps(config, sort_keys=True, separators=(",", ":")),
                         "runtime" if bad else "correct", None if bad else value,
                         "[]" if bad else json.dumps([value, value * 1.01, value * 0.99]), 1.7e9 + i, 0.01, 0))
        store.executemany(f"INSERT INTO trials ({columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)
    store.commit()
    store.close()


with tempfile.TemporaryDirectory() as folder:
    environment = dict(os.environ, XDG_DATA_HOME=folder, XDG_CACHE_HOME=folder, XDG_RUNTIME_DIR=folder)
    store, page = os.path.join(folder, "s.db"), os.path.join(folder, "r.html")
    fill(store, environment)
    begun = time.monotonic()
    subprocess.run([SWEETSPOT, "report", "--store", store, "-o", page], env=environment, check=True, stdout=subprocess.DEVNULL)
    seconds, size = time.monotonic() - begun, os.path.getsize(page)
finish([figure(f"report over {TRIALS} trials", seconds, "s", "<= 5", seconds <= 5),
        figure(f"page of {TRIALS} trials", size / 1e6, "MB", "<= 10", size <= 10e6)])

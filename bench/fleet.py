# SPDX-License-Identifier: GPL-3.0-or-later
"""Searches on simulated fleets: how busy the nodes are, and how many results a second the coordinator takes, with its store.
What the coordinator itself takes passes for the nodes, too, so that it shows where it saturates."""
import os
import subprocess
import tempfile

from common import BUILD, figure, finish

# nodes, trials, strategy, seconds of a run, least efficiency
FLEETS = [
    (1, 100, "random", 10, 0.95),
    (10, 1000, "random", 10, 0.95),
    (100, 10000, "random", 10, 0.95),
    (1000, 100000, "random", 10, 0.95),
    (10000, 1000000, "random", 10, 0.95),
    (64, 1000, "auto", 10, 0.8),
    (1000, 20000, "auto", 10, 0.8),
]
RESULTS_WANTED = 5000
# So few results are no load.
LOAD = 10000


def play(nodes, trials, strategy, seconds):
    with tempfile.TemporaryDirectory(prefix="sweetspot-fleet-") as folder:
        words = [str(nodes), str(trials), strategy, str(seconds), os.path.join(folder, "store.db")]
        done = subprocess.run([os.path.join(BUILD, "bench", "fleet_api")] + words, capture_output=True, text=True, check=True)
    return {name: float(value) for name, value, _ in (line.split("\t") for line in done.stdout.splitlines())}


def saturation():
    """Trials get shorter until the coordinator can't keep 1000 nodes busy any more."""
    rows = []
    for seconds in (3, 1, 0.3, 0.1, 0.03, 0.01):
        got = play(1000, 30000, "random", seconds)
        name = f"1000 nodes, runs of {seconds:g} s: efficiency at {got['results']:.0f} results/s"
        rows.append(figure(name, got["efficiency"], "", "-", True))
    return rows


def main():
    rows = []
    for nodes, trials, strategy, seconds, least in FLEETS:
        got = play(nodes, trials, strategy, seconds)
        name = f"{nodes} nodes, {strategy}, {got['trials']:.0f} trials"
        rows.append(figure(name + ": efficiency", got["efficiency"], "", f">= {least}", got["efficiency"] >= least))
        if strategy == "random" and trials >= LOAD:
            ok = got["results"] >= RESULTS_WANTED
            rows.append(figure(name + ": results", got["results"], "/s", f">= {RESULTS_WANTED}", ok))
    finish(rows + saturation())


main()

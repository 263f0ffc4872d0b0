# SPDX-License-Identifier: GPL-3.0-or-later
"""Runs the experiments of doc/experiments.md again and puts what came out in the place of what stood there.

An experiment is an indented line that begins with "$ sweetspot"; what follows it, indented, is its output. Words after
the script's name choose sections by their titles: `bench/experiments.py locks` does those with "locks" in them."""
import os
import re
import subprocess
import sys

from common import ENVIRONMENT, PROGRAM

HERE = os.path.dirname(os.path.abspath(__file__))
DOCUMENT = os.path.join(HERE, "..", "doc", "experiments.md")


def output(line):
    """What people see, without the line that says where things are kept."""
    command = line.strip()[2:].replace("sweetspot", f'"{PROGRAM}"', 1)
    done = subprocess.run(["sh", "-c", command], env=ENVIRONMENT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"{line.strip()}: exit {done.returncode}\n{done.stderr}")
    kept = [x for x in done.stdout.rstrip().splitlines() if not re.match(r"(profile|store|next): ", x)]
    return [("    " + x).rstrip() for x in kept]


def main():
    wanted = sys.argv[1:]
    old, new, title, at = open(DOCUMENT, encoding="utf-8").read().splitlines(), [], "", 0
    while at < len(old):
        line = old[at]
        at += 1
        new.append(line)
        if line.startswith("#"):
            title = line.lstrip("# ")
        if not line.startswith("    $ sweetspot") or (wanted and not any(w in title for w in wanted)):
            continue
        if re.search("--devices? .*cuda", line) or "$ sweetspot tune" in line:  # bench/gpu measures GPUs; results of tune are in tables
            continue
        print(line.strip(), file=sys.stderr, flush=True)
        while at < len(old) and (old[at].startswith("    ") or not old[at]) and not old[at].startswith("    $ "):
            at += 1
        new += [x.rstrip() for x in output(line)]
        new.append("")
        with open(DOCUMENT + ".new", "w", encoding="utf-8") as out:
            out.write("\n".join(new + old[at:]).rstrip() + "\n")
        os.replace(DOCUMENT + ".new", DOCUMENT)


main()

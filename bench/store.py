#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""store.py SWEETSPOT [SEARCHES]: seconds to merge a store of SEARCHES (1000) searches with 1000 trials each into a new one,
into one that has it all, and to show the state of a machine with it."""
import os, sqlite3, subprocess, sys, tempfile, time

COLUMNS = "phase, block, config, status, value, samples, started, elapsed, disturbed, message, detail"
SEARCH = "session, kernel, source, objective, strategy, seed, space_hash, cartesian, valid, baseline, state, result"
NUMBERS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < %d) "


def fill(path, searches):
    with sqlite3.connect(path) as store:
        store.execute(f"INSERT INTO searches ({SEARCH}, problem, uuid, ended, finish) " + NUMBERS % searches +
                      f"SELECT {SEARCH}, '{{\"n\":' || i || '}}', hex(randomblob(16)), ended + i, finish + i"
                      " FROM searches, n WHERE id = 1")
        store.execute(f"INSERT INTO trials (search, {COLUMNS}) " + NUMBERS % 1000 +
                      f"SELECT q.id, {COLUMNS.replace('started', 't.started + i')} FROM searches q, n,"
                      f" (SELECT {COLUMNS} FROM trials LIMIT 1) t WHERE q.id > 1".replace(" state,", " q.state,"))


def seconds(*words):
    begin = time.monotonic()
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - begin


def main():
    program, searches = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    with tempfile.TemporaryDirectory() as folder:
        one, all_of_it = os.path.join(folder, "one.db"), os.path.join(folder, "all.db")
        subprocess.run([program, "tune", "synthetic", "--size", "n=100", "--set", "threads=1", "--budget", "5e", "--quiet",
                        "--store", one], check=True, stdout=subprocess.DEVNULL)
        fill(one, searches)
        print(f"{os.path.getsize(one) / 1e6:.0f} MB, {searches} searches with 1000 trials each")
        print(f"merged into a new store: {seconds(program, 'store', 'merge', one, '-o', all_of_it):.2f} s")
        print(f"and again:               {seconds(program, 'store', 'merge', one, '-o', all_of_it):.2f} s")
        times = sorted(seconds(program, "--store", all_of_it) for _ in range(11))
        print(f"state of the machine:    {1000 * times[5]:.0f} ms (median of 11)")


main()

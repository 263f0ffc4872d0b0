# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints results as TAP."""
count = 0


def tap(good, what, why="", skip=None):
    global count
    count += 1
    print(f"{'ok' if good else 'not ok'} {count} - {what}{f' # SKIP {skip}' if skip else ''}", flush=True)
    if not good:
        print("".join(f"# {line}\n" for line in why.splitlines()[-8:]), end="")


def tap_done():
    print(f"1..{count}")

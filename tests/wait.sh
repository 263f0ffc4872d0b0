# SPDX-License-Identifier: GPL-3.0-or-later
# Waiting for something to happen. The bound is for what never happens; it is so long because a busy machine must not
# reach it. Sourced by shell tests.

# wait_until COMMAND...: polls until the command succeeds
wait_until() {
	wait_end=$(($(date +%s) + 600))
	until "$@"; do
		[ "$(date +%s)" -lt $wait_end ] || { echo "# not in ten minutes: $*"; return 1; }
		sleep 0.05
	done
}
# trials STORE: how many it holds; a store that is not there yet, or is being made, holds none
trials() {
	python3 -c "
import sqlite3
try:
    print(sqlite3.connect('file:$1?mode=ro', uri=True).execute('select count(*) from trials').fetchone()[0])
except sqlite3.Error:
    print(0)"
}
# has_trials STORE COUNT
has_trials() { [ "$(trials "$1")" -ge "$2" ]; }
# gone PATTERN: no process has such a command line; in PATTERN a bracket keeps the pattern from matching itself
gone() { ! pgrep -f "$1"; }

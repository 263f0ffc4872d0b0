# SPDX-License-Identifier: GPL-3.0-or-later
# Waiting for something to happen. The bound is for what never happens; it is so long because a busy machine must not
# reach it. Sourced by shell tests.

# wait_until COMMAND...: polls until the command succeeds, less often after half a second, because whoever polls takes processor
# time from what it waits for
wait_until() {
	wait_polls=0
	until "$@"; do
		wait_polls=$((wait_polls + 1))
		[ $wait_polls -lt 3000 ] || { echo "# not in ten minutes: $*"; return 1; }
		[ $wait_polls -gt 10 ] && sleep 0.2 || sleep 0.05
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

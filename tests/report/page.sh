# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by tests of the page, after tap.sh. $S is the store.
whole() { python3 "$SRCDIR/tests/report/page_check.py" "$@"; }
said() { grep -qF -- "$1" "$T/err" || { cat "$T/err"; return 1; }; }
report() { "$SS" report --store "$S" "$@" >"$T/out" 2>"$T/err"; }
sql() { python3 -c 'import sqlite3, sys
store = sqlite3.connect(sys.argv[1])
store.execute(sys.argv[2], sys.argv[3:])
store.commit()' "$S" "$@"; }
command -v python3 >/dev/null || { skip "everything" "no python3"; tap_done; exit; }

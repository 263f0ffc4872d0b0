# SPDX-License-Identifier: GPL-3.0-or-later
# json FILE EXPRESSION: a Python expression over d, the parsed document, is true. Sourced by shell tests.
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3 to read JSON"; exit 0; }
json() {
	python3 -S - "$1" "$2" <<'P'
import json, math, sys
d = json.load(open(sys.argv[1]))
v = eval(sys.argv[2])
print(v)
sys.exit(0 if v else 1)
P
}
# refused CODE HINT COMMAND...: exits with CODE, says why on stderr with a hint that matches HINT, nothing on stdout
refused() {
	code=$1 hint=$2
	shift 2
	exits "$code" "$@" >"$T/stdout" 2>"$T/stderr" || { cat "$T/stderr"; return 1; }
	[ ! -s "$T/stdout" ] || { echo "stdout: $(head -c 300 "$T/stdout")"; return 1; }
	[ "$(grep -c '^sweetspot: error: ' "$T/stderr")" = 1 ] || { echo "not one error:"; cat "$T/stderr"; return 1; }
	grep -qE -- "^  hint: .*$hint" "$T/stderr" || { echo "no such hint:"; cat "$T/stderr"; return 1; }
}

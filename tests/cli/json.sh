# SPDX-License-Identifier: GPL-3.0-or-later
# json FILE EXPRESSION: a Python expression over d, the parsed document, is true. Sourced by shell tests.
command -v python3 >/dev/null || { echo "1..0 # SKIP no python3 to read JSON"; exit 0; }
json() { "$site_python" -I -S -c "$json_check" "$1" "$2"; }
# The package json imports others, which takes as long as Python's start; its scanner, which is in C, needs none of them.
json_check='
import sys
for name in ("json", "math"):
    if name + "." in sys.argv[2]:
        globals()[name] = __import__(name)
text = open(sys.argv[1], encoding="utf-8").read().strip(" \t\r\n")
try:
    from _json import make_scanner
except ImportError:
    import json
    d = json.loads(text)
else:
    class how:
        strict, object_hook, object_pairs_hook, parse_float, parse_int, parse_constant = True, None, None, float, int, float
    try:
        d, end = make_scanner(how)(text, 0)
    except StopIteration:
        sys.exit(sys.argv[1] + " is not JSON")
    if end < len(text):
        sys.exit(sys.argv[1] + " goes on after its document: " + text[end:end + 40])
v = eval(sys.argv[2])
print(v)
sys.exit(0 if v else 1)
'
# refused CODE HINT COMMAND...: exits with CODE, says why on stderr with a hint that matches HINT, nothing on stdout
refused() {
	code=$1 hint=$2
	shift 2
	exits "$code" "$@" >"$T/stdout" 2>"$T/stderr" || { cat "$T/stderr"; return 1; }
	[ ! -s "$T/stdout" ] || { echo "stdout: $(head -c 300 "$T/stdout")"; return 1; }
	[ "$(grep -c '^sweetspot: error: ' "$T/stderr")" = 1 ] || { echo "not one error:"; cat "$T/stderr"; return 1; }
	grep -qE -- "^  hint: .*$hint" "$T/stderr" || { echo "no such hint:"; cat "$T/stderr"; return 1; }
}

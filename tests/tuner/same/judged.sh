# SPDX-License-Identifier: GPL-3.0-or-later
# Sourced by the tests beside it. `pair SENTENCE WORDS COMMAND BASE OTHER` asks whether a shell command does the same work with
# {V} replaced by either value; the extended regular expression WORDS must match what the judge says, which is "same" or in what
# it differs. `pairs_judge` runs all of them in one worker, each in a folder of its own, the baseline four times in all and the
# other three times.
JUDGE=$BUILDDIR/tests/tuner/same/judge
pairs=0
quoted() { printf '%s' "$1" | sed 's/\\/\\\\/g; s/"/\\"/g; s/	/\\t/g' | sed ':a;N;$!ba;s/\n/\\n/g'; }
valued() { case $1 in *[!0-9]* | '') printf '"%s"' "$1" ;; *) printf '%s' "$1" ;; esac }
request() { # COMMAND VALUE SAMPLES
	line=$(printf '%s' "$1" | sed "s|{V}|$2|g")
	printf '{"op":"program","id":1,"argv":["/bin/sh","-c","%s"],"cwd":"%s","evidence":true,"samples":%d,"timeout_s":60}\n' \
		"$(quoted "$line")" "$T/w$pairs" "$3"
}
pair() {
	pairs=$((pairs + 1))
	cp -r "$T/in" "$T/w$pairs"
	{ request "$3" "$4" 2; request "$3" "$5" 2; request "$3" "$4" 2; request "$3" "$5" 1; } >>"$T/requests"
	printf '%s\n%s\n{"V":%s}\n{"V":%s}\n' "$1" "$2" "$(valued "$4")" "$(valued "$5")" >"$T/pair$pairs"
}
pairs_judge() {
	"$SWEETSPOT_WORKER" <"$T/requests" >"$T/replies" 2>"$T/worker.err"
	i=0
	while [ $((i += 1)) -le "$pairs" ]; do
		{ read -r sentence; read -r words; read -r base; read -r other; } <"$T/pair$i"
		verdict=$(sed -n "$((4 * i - 3)),$((4 * i))p" "$T/replies" | "$JUDGE" bwbw "$base" "$other" 2>&1)
		check "$sentence" sh -c 'printf "%s\n" "$1" && printf "%s\n" "$1" | grep -Eq -- "$2"' x "$verdict" "$words"
	done
}

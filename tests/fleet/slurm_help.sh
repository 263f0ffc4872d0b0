# SPDX-License-Identifier: GPL-3.0-or-later
# What tests on the cluster of cluster.sh share. Source it after that. $T is the current folder from slurm_begin on.
. "$SRCDIR/tests/wait.sh"

# Starts the cluster, or skips the test and ends it where there can be none.
slurm_begin() {
	missing=$(cluster_missing)
	trap 'cluster_stop; rm -rf "$T"' EXIT
	trap 'exit 143' HUP INT TERM # or the daemons would stay
	if [ -n "$missing" ] || ! cluster_start "$T/cluster" >"$T/start" 2>&1; then
		skip "a cluster of two nodes" "${missing:-it does not start here: $(tail -n 1 "$T/start")}"
		tap_done
		exit
	fi
	cd "$T" || exit 99
}
json() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); r=d['results'][0]; ok=($2); print(ok or (d['fleet'], r['evaluations'], r['failures'])); sys.exit(not ok)" "$1"; }
# ss WORD...: a hang is an error
ss() { timeout 900 "$SS" "$@"; }
no_job_is_left() { [ -z "$(squeue -h)" ]; }
no_jobs() { wait_until no_job_is_left || { squeue; return 1; }; }
# running COUNT: that many of our jobs run
running() { [ "$(squeue -h -t R -n "$(squeue -h -o %j | grep -m 1 sweetspot-)" -o %i | wc -l)" = "$1" ]; }
job_is_over() { ! squeue -h -t R -o %i | grep -qx "$1"; }
job_on() { squeue -h -t R -w "$1" -o %i | head -n 1; }

# What is tuned is tests/fleet/gate, by the number that it prints: neither how long a run takes nor how fast the test
# is decides anything.
GATE="--timeout 3000 --metric took.([0-9]+) --param S=9,8,7,6,5,4,3,2 -- $SRCDIR/tests/fleet/gate $T {S}"
# hold RUN: from that run on they wait; held NODE...: until runs on these do; let_go
hold() {
	rm -f "$T/runs" "$T"/held.*
	echo "$1" >"$T/hold"
}
held() {
	for node; do wait_until test -e "$T/held.$node"; done
}
let_go() { rm -f "$T/hold"; }
# begin NAME WORD...: a tune in the background; its process is $run, its store NAME.db, its result NAME.json
begin() {
	name=$1
	shift
	"$SS" tune --store "$name.db" --launcher slurm --json "$@" >"$name.json" 2>"$name.err" &
	run=$!
}
# interrupt PID: as Ctrl-C does it; the run is let go once that was noticed, because its trial is finished first
interrupt() {
	kill -s INT -- "$1"
	wait_until grep -q Ctrl-C "$name.err"
	let_go
}
ends() {
	wait "$run"
	got=$?
	[ "$got" = "$1" ] || { echo "exit $got instead of $1"; tail -n 6 "$name.err"; return 1; }
}

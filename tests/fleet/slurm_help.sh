# SPDX-License-Identifier: GPL-3.0-or-later
# What tests on the cluster of cluster.sh share. Source it after that. $T is the current folder from slurm_begin on.

# Starts the cluster, or skips the test and ends it where there can be none.
slurm_begin() {
	missing=$(cluster_missing)
	trap 'cluster_stop; rm -rf "$T"' EXIT
	if [ -n "$missing" ] || ! cluster_start "$T/cluster" >"$T/start" 2>&1; then
		skip "a cluster of two nodes" "${missing:-it does not start here: $(tail -n 1 "$T/start")}"
		tap_done
		exit
	fi
	cd "$T" || exit 99
}
json() { python3 -c "import json,sys; d=json.load(open(sys.argv[1])); r=d['results'][0]; ok=($2); print(ok or (d['fleet'], r['evaluations'], r['failures'])); sys.exit(not ok)" "$1"; }
no_jobs() {
	for i in $(seq 40); do
		[ -z "$(squeue -h)" ] && return 0
		sleep 0.5
	done
	squeue
	return 1
}
# until_ COMMAND...: waits until it holds
until_() {
	for i in $(seq 200); do
		"$@" && return 0
		sleep 0.1
	done
	return 1
}
running() { [ "$(squeue -h -t R -n "$(squeue -h -o %j | grep -m 1 sweetspot-)" -o %i | wc -l)" = "$1" ]; }
trials() { [ "$(sqlite3 "$1.db" 'select count(*) from trials' 2>/dev/null || echo 0)" -ge "$2" ]; }
# begin NAME WORD...: a tune in the background; its process is $run, its store NAME.db, its result NAME.json
begin() {
	name=$1
	shift
	"$SS" tune --store "$name.db" --launcher slurm --json "$@" >"$name.json" 2>"$name.err" &
	run=$!
}
ends() {
	wait "$run"
	got=$?
	[ "$got" = "$1" ] || { echo "exit $got instead of $1"; tail -n 6 "$name.err"; return 1; }
}

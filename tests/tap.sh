# SPDX-License-Identifier: BSD-3-Clause
# TAP for shell tests. Source it: . "$SRCDIR/tests/tap.sh"; then `check WHAT COMMAND...`, `skip WHAT WHY`, `tap_done`.
# $SS is the built program with its worker, $T a folder of the test's own that goes away, XDG folders are inside it.
set -u
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILDDIR:=$SRCDIR}"
SS=$BUILDDIR/sweetspot
tap_count=0 tap_failed=0
T=$(mktemp -d) && trap 'rm -rf "$T"' EXIT
export XDG_DATA_HOME=$T/data XDG_CACHE_HOME=$T/cache XDG_CONFIG_HOME=$T/config NO_COLOR=1 LC_ALL=C
export XDG_RUNTIME_DIR=$T # a measurement lock of its own
export SWEETSPOT_WORKER=$BUILDDIR/sweetspot-worker
check() {
	what=$1
	shift
	tap_count=$((tap_count + 1))
	if "$@" >"$T/.out" 2>&1; then echo "ok $tap_count - $what"; else
		tap_failed=$((tap_failed + 1))
		echo "not ok $tap_count - $what"
		sed 's/^/# /' "$T/.out" | tail -n 12
	fi
}
skip() { tap_count=$((tap_count + 1)); echo "ok $tap_count - $1 # SKIP $2"; }
# exits CODE COMMAND...: succeeds where the command exits with that code
exits() {
	want=$1
	shift
	"$@"
	got=$?
	[ "$got" = "$want" ] || { echo "exit $got instead of $want"; return 1; }
}
tap_done() { echo "1..$tap_count"; [ "$tap_failed" = 0 ]; }

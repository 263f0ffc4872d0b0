# SPDX-License-Identifier: BSD-3-Clause
# TAP for shell tests. Source it: . "$SRCDIR/tests/tap.sh" || exit 99; then `check WHAT COMMAND...`, `skip WHAT WHY`, `tap_done`.
# $SS is the built program with its worker, $T a folder of the test's own that goes away, XDG folders are inside it.
set -u
: "${SRCDIR:=$(cd "$(dirname "$0")/../.." && pwd)}" "${BUILDDIR:=$SRCDIR}"
SS=$BUILDDIR/sweetspot
tap_count=0
T=$(mktemp -d) || exit 99 # `cd ""` succeeds, so that a test would write wherever it was started
trap 'rm -rf "$T"' EXIT
export XDG_DATA_HOME=$T/data XDG_CACHE_HOME=$T/cache XDG_CONFIG_HOME=$T/config NO_COLOR=1 LC_ALL=C SWEETSPOT_EMULATOR_LEVEL=-O0
export XDG_RUNTIME_DIR=$T # a measurement lock of its own
# Nothing of it is looked through for files that a program writes, which takes longer for a build's folder than most runs.
mkdir "$T/.here" && cd "$T/.here" || exit 99
export SWEETSPOT_WAIT="${SWEETSPOT_WAIT-0}" # because other tests run, nothing becomes quiet
# The tuner keeps OMP_* from its workers. Here they get it all the same, because in tests that run beside each other, threads
# that spin while they wait took most of the processors' time.
SWEETSPOT_WORKER=$T/.worker/sweetspot-worker
mkdir "$T/.worker"
ln -s "$BUILDDIR/.libs" "$T/.worker/.libs" # the libraries that are looked for beside it
printf '#!/bin/sh\nexport OMP_WAIT_POLICY=passive\nexec "%s" "$@"\n' "$BUILDDIR/sweetspot-worker" >"$SWEETSPOT_WORKER"
chmod +x "$SWEETSPOT_WORKER"
export SWEETSPOT_WORKER
# Hundreds of checks start Python, which takes a third of the time without the packages of the site: $site_python has them.
if site_python=$(command -v python3); then
	# In its place may be a script that looks for a version, as pyenv's, which takes longer than Python itself.
	case $(head -c 2 "$site_python") in '#!') site_python=$("$site_python" -c 'import sys; print(sys.executable)') ;; esac
	mkdir "$T/.bin"
	printf '#!/bin/sh\nexec "%s" -S "$@"\n' "$site_python" >"$T/.bin/python3"
	chmod +x "$T/.bin/python3"
	PATH=$T/.bin:$PATH
fi
# Tests use CC as one word; `ccache gcc` are two.
case ${CC-} in
*' '*)
	printf '#!/bin/sh\nexec %s "$@"\n' "$CC" >"$T/.cc" && chmod +x "$T/.cc"
	CC=$T/.cc
	;;
esac
check() {
	what=$1
	shift
	tap_count=$((tap_count + 1))
	if "$@" >"$T/.out" 2>&1; then echo "ok $tap_count - $what"; else
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
# The exit status tells only whether the test came to its end: a failed check is in the TAP, and a status would make an error of it.
tap_done() { echo "1..$tap_count"; }

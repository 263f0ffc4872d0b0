# SPDX-License-Identifier: GPL-3.0-or-later
# schema NAME FILE [OPEN...]: a check that the document is as data/schema/NAME.json says, and that nothing else is taken.
# Sourced by shell tests, after tap.sh.
schema() {
	"$site_python" "$SRCDIR/tests/schema.py" "$@" >"$T/.schema" 2>&1
	case $? in
	0) check "${2##*/} is as $1.json says, which takes nothing else" true ;;
	77) skip "${2##*/} is as $1.json says" "no jsonschema for Python" ;;
	*) check "${2##*/} is as $1.json says, which takes nothing else" sh -c 'cat "$0"; exit 1' "$T/.schema" ;;
	esac
}

# SPDX-License-Identifier: GPL-3.0-or-later
# Documents and their schemas, see schema.py. Sourced by shell tests, after tap.sh. The checks are printed by tap_done, where one
# process judges all documents as they were.
# schema NAME FILE [OPEN...]: a check that the document is as data/schema/NAME.json says, and that nothing else is taken.
schema() {
	schema_name=$1 schema_file=$2
	shift 2
	schema_keep "$schema_file" "${schema_file##*/} is as $schema_name.json says, which takes nothing else" exact "$schema_name" "$@"
}
# described WHAT NAME FILE: the check WHAT is that the document is as data/schema/NAME.json says.
described() { schema_keep "$3" "$1" described "$2"; }
schema_count=0
# schema_keep FILE WHAT WORD...
schema_keep() {
	schema_count=$((schema_count + 1))
	mkdir -p "$T/.schema"
	cp "$1" "$T/.schema/$schema_count" # without it, the judge tells
	echo "$2" >>"$T/.schema/checks"
	shift 2
	echo "$*" >>"$T/.schema/judge"
}
schema_right() { [ -e "$1.right" ] || { cat "$1.why" "$T/.schema/said"; return 1; }; }
schema_judge() {
	"$site_python" "$SRCDIR/tests/schema.py" "$T/.schema" <"$T/.schema/judge" >"$T/.schema/said" 2>&1
	schema_status=$? schema_number=0
	while read -r schema_check; do
		schema_number=$((schema_number + 1))
		case $schema_status in
		77) skip "$schema_check" "no jsonschema for Python" ;;
		*) check "$schema_check" schema_right "$T/.schema/$schema_number" ;;
		esac
	done <"$T/.schema/checks"
}
tap_done() {
	[ $schema_count = 0 ] || schema_judge
	echo "1..$tap_count"
}

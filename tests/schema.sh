# SPDX-License-Identifier: GPL-3.0-or-later
# schema NAME FILE [OPEN...]: a check that the document is as data/schema/NAME.json says, and that nothing else is taken.
# Sourced by shell tests, after tap.sh.
schema() {
	if python3 -c 'import jsonschema; jsonschema.Draft202012Validator' 2>/dev/null; then
		check "${2##*/} is as $1.json says, which takes nothing else" python3 "$SRCDIR/tests/schema.py" "$@"
	else
		skip "${2##*/} is as $1.json says" "no jsonschema for Python"
	fi
}

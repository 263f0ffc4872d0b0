# SPDX-License-Identifier: GPL-3.0-or-later
# The candidates that every shell must offer. Source it with `offers FILE WORD...` defined, which prints candidates for the
# last word, one a line.
# Shells that show only the value of P=V and shells that show both count as equal.
PATH=$BUILDDIR:$PATH
export PATH
commands=$(ss_commands() { "$SS" --help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p'; }; ss_commands)

# same WHAT WANT WORD...: exactly these candidates
same() {
	what=$1 want=$2
	shift 2
	printf '%s\n' "$want" | sort -u >"$T/want"
	offers "$@" 2>"$T/said" | sed 's/^\(--\)\{0,1\}[a-z_]*=\(.\)/\2/' | sort -u >"$T/got"
	check "completion offers $what" sh -c 'diff "$1/want" "$1/got" && ! grep . "$1/said"' sh "$T"
}

cases() {
	check "sweetspot --help lists commands" test -n "$commands"
	offers sweetspot '' | sort -u >"$T/got"
	printf '%s\n' "$commands" | sort >"$T/want"
	check "every command is offered" sh -c 'comm -23 "$1/want" "$1/got" | { ! grep .; }' sh "$T"
	for command in $commands; do
		same "every option of $command, and no other" \
			"$("$SS" "$command" --help | sed -n 's/^ \{2,6\}\(-[a-zA-Z], \)\{0,1\}\(--[a-z0-9-]*\).*/\2/p')" \
			sweetspot "$command" --
	done
	kernels=$("$SS" list kernels | awk 'NR > 1 { print $1 }')
	formats=$("$SS" list formats | awk 'NR > 1 { print $1 }')
	same "kernels" "$kernels" sweetspot tune ''
	same "kernels for list params" "$kernels" sweetspot list params ''
	same "formats" "$formats" sweetspot export -f ''
	same "strategies" "$("$SS" list strategies | awk 'NR > 1 { print $1 }')" sweetspot tune fw --strategy ''
	same "launchers" "flux
gpus
local
pbs
slurm
ssh" sweetspot tune --launcher ''
	same "what a store can do" "export
import
info
list
merge
rm
show" sweetspot store ''
	same "verbs of fleet" "tune
status" sweetspot fleet ''
	same "kernels for fleet tune" "$kernels" sweetspot fleet tune ''
	same "devices" "cpu
cuda
opencl" sweetspot tune --device ''
	same "verbs of profile" "show
diff
merge
import
verify
select" sweetspot profile ''
	same "kernels for profile select" "$kernels" sweetspot profile select ''
	same "what is preferred" "newest
faster" sweetspot profile merge --prefer ''
	parameters=$("$SS" list params fw --json | python3 -c 'import json, sys
print("\n".join(p["name"] for p in json.load(sys.stdin)["params"]))')
	offers sweetspot run fw '' | sed 's/=$//' | sort -u >"$T/got"
	printf '%s\n' "$parameters" | sort >"$T/want"
	check "the parameters of a kernel are offered" diff "$T/want" "$T/got"
	offers sweetspot sweep fw --over '' | sed 's/=$//' | sort -u >"$T/got"
	check "the parameters of a kernel are offered after an option" diff "$T/want" "$T/got"
	offers sweetspot tune fw --size '' | sed 's/=$//' | sort -u >"$T/got"
	check "the sizes of a kernel are offered, and not its parameters" sh -c 'grep -qx n "$1/got" && ! grep -qx block "$1/got"' sh "$T"
}

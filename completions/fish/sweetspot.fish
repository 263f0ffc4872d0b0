# SPDX-License-Identifier: GPL-3.0-or-later
# Completion for fish. The program itself lists its commands, options, kernels, parameters and formats, so that this file
# does not have to change with them.

function __sweetspot_commands
    $argv[1] --help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z][a-z-]*\)  *\(.*\)/\1\t\2/p'
end

function __sweetspot_options
    $argv[1] $argv[2] --help 2>/dev/null | awk '/^  (-[a-zA-Z], |    )--/ {
        line = $0; sub(/^ +(-[a-zA-Z], )?/, "", line); name = line; sub(/ .*/, "", name)
        if (!sub(/^[^ ]+( [^ ]+)*  +/, "", line)) line = ""
        print name "\t" line }'
end

# Prints the argument of an option, as --help calls it; nothing for a switch.
function __sweetspot_takes
    $argv[1] $argv[2] --help 2>/dev/null | awk -v option="$argv[3]" '/^  (-[a-zA-Z], |    )--/ {
        short = $1; sub(/,$/, "", short); line = $0; sub(/^ +(-[a-zA-Z], )?/, "", line)
        name = line; sub(/ .*/, "", name)
        if (option != name && option != short) next
        line = substr(line, length(name) + 1)
        if (line ~ /^ [^ ]/) { sub(/^ /, "", line); sub(/  .*/, "", line); print line }
        exit }'
end

function __sweetspot_list
    $argv[1] list $argv[2] 2>/dev/null | awk 'NR > 1 { print $1 }'
end

# Prints P=V of a kernel: its names, or the values of the one that is already typed.
function __sweetspot_settings --argument-names program kernel part word
    test -n "$kernel"; or return 0
    set -l name (string match -r '^[^=]*(?==)' -- "$word")
    $program list params $kernel 2>/dev/null | awk -v part="$part" -v name="$name" '
        !NF { table = ""; next }
        $1 == "size" || $1 == "parameter" { table = $1; next }
        table != part { next }
        name == "" { print $1 "=" }
        name == $1 && $2 !~ /\.\./ { n = split($2, values, ","); for (i = 1; i <= n; i++) print name "=" values[i] }'
end

function __sweetspot_values --argument-names program option kernel word
    switch $option
        case -f --format
            __sweetspot_list $program formats
        case --strategy
            __sweetspot_list $program strategies
        case --launcher
            __sweetspot_list $program launchers
        case --device
            printf '%s\n' cpu cuda opencl
        case --objective
            printf '%s\n' time energy edp
        case --prefer
            printf '%s\n' newest faster
        case --kernel
            __sweetspot_list $program kernels
        case -s --size --sizes
            __sweetspot_settings $program "$kernel" size "$word"
        case --set --range --over --default
            __sweetspot_settings $program "$kernel" parameter "$word"
        case '*'
            __fish_complete_path "$word"
    end
end

function __sweetspot_words --argument-names program command kernel before word
    switch $command
        case list
            switch $before
                case list
                    printf '%s\n' kernels strategies counters metrics formats diagnoses launchers tools params
                case params
                    __sweetspot_list $program kernels
            end
        case profile
            switch $before
                case profile
                    printf '%s\n' show diff merge import verify select
                case select
                    __sweetspot_list $program kernels
                case '*'
                    __fish_complete_path "$word"
            end
        case run compare
            if test -n "$kernel"
                __sweetspot_settings $program $kernel parameter "$word"
            else
                __sweetspot_list $program kernels
            end
        case fleet
            if test "$before" = fleet
                printf '%s\n' tune status
            else
                __sweetspot_list $program kernels
            end
        case store
            if test "$before" = store
                printf '%s\n' list show rm info merge export import
            else
                __fish_complete_path "$word"
            end
        case tune sweep export explain report
            __sweetspot_list $program kernels
        case '*'
            __fish_complete_path "$word"
    end
end

function __sweetspot_complete
    set -l words (commandline -opc)
    set -l word (commandline -ct)
    set -l program $words[1]
    if test (count $words) -eq 1
        __sweetspot_commands $program
        return
    end
    if contains -- -- $words
        __fish_complete_path "$word"
        return
    end
    set -l kernel ''
    set -l kernels (__sweetspot_list $program kernels)
    for one in $words[3..]
        if test -z "$kernel"; and contains -- $one $kernels
            set kernel $one
        end
    end
    if string match -qr '^--[a-z0-9-]+=' -- "$word"
        set -l option (string replace -r '=.*' '' -- "$word")
        for value in (__sweetspot_values $program $option "$kernel" (string replace -r '^[^=]*=' '' -- "$word"))
            echo "$option=$value"
        end
    else if string match -q -- '-*' "$word"
        __sweetspot_options $program $words[2]
    else if string match -q -- '-*' $words[-1]; and test -n "$(__sweetspot_takes $program $words[2] $words[-1])"
        __sweetspot_values $program $words[-1] "$kernel" "$word"
    else
        __sweetspot_words $program $words[2] "$kernel" $words[-1] "$word"
    end
end

complete -c sweetspot -e
complete -c sweetspot -f -a '(__sweetspot_complete)'

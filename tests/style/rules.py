# SPDX-License-Identifier: GPL-3.0-or-later
"""Prints what breaks the rules that concern a tree as a whole, as lines "RULE: what". tests/style/house holds the limits.

    python3 tests/style/rules.py TREE [RULE..]     export, door, name, struct, circle; all without RULE
"""
import collections, os, re, sys
from os.path import basename, dirname, normpath, splitext

if len(sys.argv) < 2:
    sys.exit(__doc__)
os.chdir(sys.argv[1])
ROOMS = "src tuner base worker topo kernels counters gpu lib tools".split()
C = (".c", ".h", ".inc")
BLANK = re.compile(r'/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'', re.S)


def read(path):
    with open(path, errors="replace") as file:
        return file.read()


def below(folders, ends):
    return sorted(f"{at}/{name}" for top in folders for at, _, names in os.walk(top) for name in names if name.endswith(ends))


TEXT = {path: read(path) for path in below(ROOMS, C + (".cu", ".cuh", ".cc", ".hpp"))}
CODE = {path: BLANK.sub(" ", text) for path, text in TEXT.items()}
SOURCES = [path for path in CODE if path.endswith(".c")]


def installed():
    """Headers that users include."""
    for path in below(ROOMS, "local.mk"):
        for names in re.findall(r"^\w*include_HEADERS \+?= *(.*)", read(path).replace("\\\n", " "), re.M):
            yield from (normpath(name.replace("%D%", dirname(path))) for name in names.split())


INSTALLED = set(installed())


def exported():
    """Name -> the file that defines it, of each function that one file alone defines and exports."""
    homes = collections.defaultdict(set)
    for path in SOURCES:
        for name in re.findall(r"^(?!static\b|typedef\b)[A-Za-z_][\w \t*]*?\b(\w+)\((?:[^;{}])*\)\s*\{$", CODE[path], re.M):
            homes[name].add(path)
    return {name: min(paths) for name, paths in homes.items() if len(paths) == 1}


HOME = exported()


def export():
    """What users call, and what runtimes look up by name, has its users elsewhere. A header that declares does not use."""
    api = set(re.findall(r"\b(\w+)\s*\(", " ".join(CODE[path] for path in INSTALLED if path in CODE)))
    users = {name: set() for name in HOME if name not in api and not re.match(r"GOMP_|__kmpc|omp_|main$", name)}
    for path, text in CODE.items():
        for name, times in collections.Counter(re.findall(r"\b[A-Za-z_]\w+", text)).items():
            if name in users and HOME[name] != path and not (path.endswith(".h") and times == 1):
                users[name].add(path)
    for name, files in users.items():
        if len(files) == 1 and {dirname(path) for path in files} == {dirname(HOME[name])}:
            yield f"{name} of {HOME[name]} is used by {min(files)} alone"


def door():
    """Templates (*_tile.h) are included once for each instruction set, and those of kernels/locks are its registry's."""
    headers = {path for path in CODE if path.endswith(".h") and not path.endswith("_tile.h")} - INSTALLED
    for path, text in TEXT.items():
        for name in re.findall(r'^\s*#\s*include\s*["<]([^">]+)[">]', text, re.M):
            headers -= {at for at in (name, normpath(f"{dirname(path)}/{name}")) if dirname(at) != dirname(path)}
    for path in sorted(headers):
        if not path.endswith("impl.h") and dirname(path) != "kernels/locks":
            yield f"{path} is included by its own room alone"


def name():
    """Each registry has a registry.c, and variants of a kernel are named alike."""
    folders = collections.defaultdict(list)
    for path in SOURCES:
        if basename(path) != "registry.c" and not re.match(r"kernels/\w+/", path):
            folders[basename(path)].append(dirname(path))
    for base, at in folders.items():
        for folder in at[1:]:
            yield f"{base} is in {folder} and in {at[0]}"


def struct():
    """Members of structs within count too, and so do the rows of a table that is a macro; tables of a library's functions
    (*_CALLS, *_FUNCTIONS) are as long as the library wants."""
    rows = {table: len(re.findall(rf"\b{row}\(", body)) for text in CODE.values()
            for table, row, body in re.findall(r"^#define (\w+)\((\w+)[^)]*\)((?:.*\\\n)*.*)", text, re.M)}
    for path, text in CODE.items():
        for tag, body in re.findall(r"^(?:\w+ )*(?:struct|union) ?(\w*) \{\n(.*?)^\}", text, re.M | re.S):
            body = re.sub(r"^\s*#.*|enum \w* ?\{[^}]*\}", "", body, flags=re.M)
            body = re.sub(r"\w+_(CALLS|FUNCTIONS)\(", "(", body)
            body = re.sub(r"\b([A-Z]\w*[A-Z])\(\w+\)(?!;)", lambda table: ";" * rows.get(table[1], 0), body)
            nested = 1
            while nested:  # parameters of function pointers are no members
                body, nested = re.subn(r"\([^()]*\)", "", body)
            members = body.count(";") + body.count(",") - len(re.findall(r"\}\s*;", body))
            if members > 30:
                yield f"{tag} of {path} has {members} members"


def circle():
    """A call is the name of an exported function before a parenthesis. A file may have a static function or a parameter of
    that name, and a member is something else."""
    calls = {}
    for path in SOURCES:
        own = re.findall(r"^static [^;{]*?\b(\w+)\(|\(\*(\w+)\)\(", CODE[path], re.M)
        named = set(re.findall(r"(?<!->)(?<!\.)\b([A-Za-z_]\w*)\(", CODE[path])) - {name for pair in own for name in pair}
        calls[path] = {HOME[name] for name in named if name in HOME} - {path}
    reached = {}
    for path in calls:
        reached[path], waiting = set(), [path]
        while waiting:
            fresh = calls[waiting.pop()] - reached[path]
            reached[path] |= fresh
            waiting += fresh
    for path in calls:
        ring = {to for to in reached[path] if path in reached[to]}
        if len(ring) > 4:
            yield f"{path} calls {min(ring & calls[path])}, which leads back to it, in a circle of {len(ring)} files"


RULES = {rule.__name__: rule for rule in (export, door, name, struct, circle)}
for chosen in sys.argv[2:] or RULES:
    for line in RULES[chosen]():
        print(f"{chosen}: {line}")

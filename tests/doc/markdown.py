# SPDX-License-Identifier: GPL-3.0-or-later
"""Reads the code blocks of a document."""
import os, re


def documents(sources):
    """The documents for users and the laboratory book, from the root of the sources."""
    return sorted(f"{folder}/{name}" for folder in ("doc", "doc/lab") for name in os.listdir(f"{sources}/{folder}") if name.endswith(".md"))


def blocks(text):
    """Yields (line, kind, text) of each block after three backquotes or indented by four."""
    kind, start, lines, inside_list, before = None, 0, [], False, ""
    for number, line in enumerate(text.split("\n") + ["end"], 1):
        if kind not in (None, "indented"):
            if line.startswith("```"):
                yield start, kind, "\n".join(lines)
                kind, before = None, ""
            else:
                lines.append(line)
            continue
        if kind == "indented":
            if line.startswith("    ") or not line.strip():
                lines.append(line[4:])
                continue
            yield start, kind, "\n".join(lines).rstrip()
            kind = None
        if line.startswith("```"):
            kind, start, lines, inside_list = line[3:].strip() or "text", number + 1, [], False
        elif re.match(r"    \S", line) and (not before.strip() or before.startswith("#")) and not inside_list:
            kind, start, lines = "indented", number, [line[4:]]
        elif re.match(r"\s*([-*]|\d+\.) ", line):
            inside_list = True
        elif line.strip() and not line.startswith(" "):
            inside_list = False
        before = line

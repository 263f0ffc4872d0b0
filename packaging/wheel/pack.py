# SPDX-License-Identifier: BSD-3-Clause
"""usage: pack.py PACKAGE TREE OUT PLATFORM: a wheel of the Python package with an installation beneath sweetspot/installed.
Prints its path. Nothing in it may need a glibc newer than 2.28, or a library that is not in it."""

import os
import re
import subprocess
import sys

HOST = re.compile(r"lib(c|m|pthread|dl|rt)\.so\.\d+|ld-linux.*")
LEFT_OUT = re.compile(r"\.(la|a)$|\.so\.\d+\.\d+|^(include|share/(man|doc|bash-completion|zsh|fish))/|^lib/(cmake|pkgconfig)/")


def files(tree):
    for folder, _, names in os.walk(tree):
        for name in names:
            path = os.path.join(folder, name)
            inside = os.path.relpath(path, tree)
            if LEFT_OUT.search(inside) or (os.path.islink(path) and not re.search(r"\.so\.\d+$", inside)):
                continue
            yield inside, path


def check(inside, path, present):
    with open(path, "rb") as file:
        if file.read(4) != b"\x7fELF":
            return
    said = subprocess.run(["readelf", "-d", "-V", "-W", path], stdout=subprocess.PIPE, text=True).stdout
    wanted = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", said) if not HOST.fullmatch(name) and name not in present]
    newer = [v for v in re.findall(r"Name: GLIBC_([\d.]+)", said) if tuple(map(int, v.split("."))) > (2, 28)]
    if wanted or newer:
        sys.exit("pack.py: %s needs %s" % (inside, ", ".join([*wanted, *("glibc " + v for v in newer)])))


def main():
    package, tree, out, platform = sys.argv[1:5]
    sys.path.insert(0, os.path.join(package, "build_backend"))
    import backend

    found = dict(files(tree))
    for inside, path in found.items():
        check(inside, path, {os.path.basename(each) for each in found})
    print(os.path.join(out, backend.write_binary_wheel(out, found, platform)))


if __name__ == "__main__":
    main()

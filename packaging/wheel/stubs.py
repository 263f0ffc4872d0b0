# SPDX-License-Identifier: BSD-3-Clause
"""Makes a folder to link against instead of this system's glibc: libraries that have the symbols of glibc 2.28 and earlier
only, so that what is linked runs there. usage: stubs.py CC FOLDER

A newer glibc keeps the old versions of its symbols for old programs; they become the ones that the linker finds. compat.c has
the few functions that are newer, and the start of programs. Libraries that are to be linked statically are put there, too.
"""

import os
import re
import subprocess
import sys

MOST = (2, 28)
STATIC = ("gsl", "gslcblas", "hwloc", "jansson", "sqlite3", "z", "gomp", "dw", "elf", "bz2", "lzma", "gcc_eh")
NAMES = {"libc.so.6": "libc228.so", "libm.so.6": "libm.so"}
BLAS = ("sgemm", "sgemv", "strsm", "dtrsm", "dtrmm", "dsyrk", "dtrsv", "dtrmv")  # tuner/model/gp/blas.c has these names
EMPTY = {"libpthread.so.0": "libpthread.so", "libdl.so.2": "libdl.so", "librt.so.1": "librt.so"}  # where symbols were before 2.34


def version_of(text):
    return tuple(int(part) for part in re.findall(r"\d+", text))


def symbols(path):
    """{name: (version, type, size)} with the newest version that is old enough."""
    found = {}
    text = subprocess.run(["readelf", "--dyn-syms", "-W", path], stdout=subprocess.PIPE, text=True, check=True).stdout
    for line in text.splitlines():
        match = re.match(r"\s*\d+: \S+\s+(\w+) (\S+)\s+(\S+)\s+\S+\s+(\S+) ([\w.]+)@@?(GLIBC_[\d.]+)", line)
        if not match or match.group(4) == "UND" or match.group(3) not in ("GLOBAL", "WEAK", "UNIQUE"):
            continue
        size, kind, _, _, name, version = match.groups()
        if version_of(version) <= MOST and (name not in found or version_of(version) > version_of(found[name][0])):
            found[name] = (version, kind, int(size, 0))
    return found


def library(compiler, folder, soname, name, known):
    lines, versions = ['.section .note.GNU-stack,"",%progbits', ".data"], sorted({v for v, _, _ in known.values()}, key=version_of)
    for i, (symbol, (version, kind, size)) in enumerate(sorted(known.items())):
        place = {"OBJECT": "object", "TLS": "tls_object"}.get(kind, "function")
        section = '.section .tdata,"awT",%progbits' if kind == "TLS" else ".text" if place == "function" else ".data"
        lines += [section, ".globl s%d" % i, ".type s%d, %%%s" % (i, place), ".size s%d, %d" % (i, size), "s%d: .zero %d" % (i, max(1, size)),
                  ".symver s%d, %s@@%s" % (i, symbol, version)]  # fmt: skip
    with open(os.path.join(folder, name + ".s"), "w") as file:
        file.write("\n".join(lines) + "\n")
    with open(os.path.join(folder, name + ".map"), "w") as file:
        file.write("".join("%s { };\n" % version for version in versions) or "NONE { };\n")
    stem = os.path.join(folder, name)
    subprocess.run([*compiler, "-shared", "-nostdlib", "-Wl,-soname," + soname, "-Wl,--version-script=" + stem + ".map", stem + ".s", "-o", stem], check=True)


def where(compiler, name):
    path = subprocess.run([*compiler, "-print-file-name=" + name], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    return os.path.realpath(path) if os.path.isabs(path) or os.path.exists(path) else None


def main():
    compiler, folder = sys.argv[1].split(), sys.argv[2]
    here = os.path.dirname(os.path.abspath(__file__))
    os.makedirs(folder, exist_ok=True)
    for soname, name in NAMES.items():
        known = symbols(where(compiler, soname))
        if soname == "libc.so.6":
            loader = [each for each in ("ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1") if where(compiler, each)]
            known.update({k: v for each in loader for k, v in symbols(where(compiler, each)).items() if k not in known})
        library(compiler, folder, soname, name, known)
    for soname, name in EMPTY.items():
        library(compiler, folder, soname, name, {})
    for name in STATIC:
        path = where(compiler, "lib%s.a" % name)
        if path:
            link = os.path.join(folder, "lib%s.a" % name)
            if not os.path.lexists(link):
                os.symlink(path, link)
        elif name not in ("dw", "elf", "bz2", "lzma", "gcc_eh"):
            sys.exit("stubs.py: lib%s.a is not installed" % name)
    gsl = os.path.join(folder, "libgslcblas.a")
    os.unlink(gsl)
    objcopy = subprocess.run([*compiler, "-print-prog-name=objcopy"], stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    renamed = ["--redefine-sym=cblas_%s=gsl_own_cblas_%s" % (name, name) for name in BLAS]
    subprocess.run([objcopy, *renamed, where(compiler, "libgslcblas.a"), gsl], check=True)
    flags = [*compiler, "-O2", "-fPIC", "-fno-stack-protector", "-w", "-c"]
    make = [*flags, os.path.join(here, "compat.c"), "-o"]
    subprocess.run([*make, os.path.join(folder, "compat.o")], check=True)
    archive = os.path.join(folder, "libcompat228.a")
    subprocess.run(["ar", "rcs", archive, os.path.join(folder, "compat.o")], check=True)
    papi = os.path.join(folder, "papi.o")  # without its header nothing is made, and configure finds no PAPI
    if subprocess.run([*flags, os.path.join(here, "papi.c"), "-o", papi], check=False).returncode == 0:
        subprocess.run(["ar", "rcs", os.path.join(folder, "libpapi.a"), papi], check=True)
    subprocess.run(["ar", "rcs", os.path.join(folder, "libsde.a")], check=True)  # empty: it cannot be opened at run time
    with open(os.path.join(folder, "libc.so"), "w") as file:  # as glibc has it: a script
        file.write("GROUP ( %s %s )\n" % (os.path.join(folder, "libc228.so"), archive))
    for name in ("crt1.o", "Scrt1.o"):
        subprocess.run([*make, os.path.join(folder, name), "-DSTART"], check=True)


if __name__ == "__main__":
    main()

# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: recipes.py SOURCES rpm|spack|easybuild|conda|container|lists. Ends with a message if the recipe does not fit the sources.

Spack and EasyBuild read Python: here their words are functions that record what they are given.
"""
import glob, os, re, sys, types

SOURCES, KIND = sys.argv[1:3]
# A library of configure.ac, and its names in RPM, Spack and EasyBuild.
LIBRARIES = {
    "hwloc": ("hwloc-devel", "hwloc", "hwloc"),
    "gsl": ("gsl-devel", "gsl", "GSL"),
    "jansson": ("jansson-devel", "jansson", "Jansson"),
    "sqlite": ("sqlite-devel", "sqlite", "SQLite"),
    "zlib": ("zlib-devel", "zlib-api", "zlib"),
    "papi": ("papi-devel", "papi", "PAPI"),
    "libdw": ("elfutils-devel", "elfutils", "elfutils"),
}


def read(path):
    with open(os.path.join(SOURCES, path), encoding="utf-8") as file:
        return file.read()


def wanted(column):
    """Whatever configure requires, and what it takes where it is there."""
    configure = read("configure.ac")
    required = re.findall(r"SS_REQUIRE_PKG\(\[(\w+)\]", configure)
    assert len(required) >= 5 and all(name in LIBRARIES for name in required), required
    return {LIBRARIES[name][column] for name in required + ["papi", "libdw"]}


def rpm():
    text = read("packaging/rpm/sweetspot.spec")
    assert re.search(r"^Version:\s*(\S+)", text, re.M)[1] == read("VERSION").strip(), "another version"
    have = set(re.split(r"[,\s]+", re.search(r"^BuildRequires:\s*(.*)", text, re.M)[1]))
    assert wanted(0) <= have, wanted(0) - have


class AutotoolsPackage:
    """What the recipe uses of Spack's class."""

    def with_or_without(self, name):
        return [f"--with-{name}"]


def spack():
    given = []
    words = {word: lambda *a, _word=word, **k: given.append((_word, a, k)) for word in ("license", "version", "variant", "depends_on")}
    builtin = "spack_repo.builtin.build_systems.autotools"  # where Spack 1.0 and later have the class
    parents = [builtin.rsplit(".", i)[0] for i in range(1, 4)] + ["spack", "spack.package", builtin]
    sys.modules.update({name: types.ModuleType(name) for name in parents})
    sys.modules["spack.package"].__dict__.update(words)
    sys.modules[builtin].AutotoolsPackage = AutotoolsPackage
    names = {}
    exec(compile(read("packaging/spack/package.py"), "package.py", "exec"), names)
    have = {re.split(r"[@+~]", a[0])[0] for word, a, _ in given if word == "depends_on"}
    assert wanted(1) <= have, wanted(1) - have
    variants = {a[0] for word, a, _ in given if word == "variant"}
    for word, a, k in given:
        assert word != "depends_on" or not k.get("when") or k["when"].lstrip("+~") in variants, (a, k)
    for option in names["Sweetspot"]().configure_args():
        assert re.search(rf"SS_WITH_PKG\(\[{option[7:]}\]", read("configure.ac")), option


def easybuild():
    (path,) = glob.glob(f"{SOURCES}/packaging/easybuild/*.eb")
    names = {"SOURCE_TAR_GZ": "%(name)s-%(version)s.tar.gz"}
    exec(compile(read(path), path, "exec"), names)
    chain = names["toolchain"]
    expected = f"{names['name']}-{names['version']}-{chain['name']}-{chain['version']}.eb"
    assert os.path.basename(path) == expected and names["version"] == read("VERSION").strip(), expected
    have = {one[0] for one in names["dependencies"]}
    assert wanted(2) <= have, wanted(2) - have


def container():
    stages = read("packaging/Containerfile").replace("\\\n", " ").split("\nFROM ")[1:]
    installed = [set(re.search(r"apt-get install (.*?)(?:&&|$)", stage, re.M)[1].split()) for stage in stages]
    needed = set(re.split(r",\s*", re.search(r"^Build-Depends: (.*)", read("debian/control"), re.M)[1]))
    missing = {one for one in needed if not one.startswith(("debhelper", "python3"))} - installed[0]
    assert not missing, missing
    # libsde has no package of its own for development: it comes with PAPI's.
    assert ("libpapi-dev" in installed[0]) == ("libsde1" in installed[1]), "libsde1"


def conda():
    text = read("packaging/conda/meta.yaml")
    assert re.search(r'set version = "([^"]+)"', text)[1] == read("VERSION").strip(), "another version"
    have = set(re.findall(r"^    - ([\w-]+)", text.split("  host:")[1].split("  run:")[0], re.M))
    assert {one.replace("hwloc", "libhwloc") for one in wanted(1)} - {"zlib-api"} <= have, have
    # conda-forge's linter: R-033, a compiler needs the C library that it builds for; R-024, python has no version where the package is not noarch.
    assert "{{ compiler('c') }}" not in text or "{{ stdlib('c') }}" in text, "stdlib"
    assert "noarch" in text or not re.search(r"^ +- python [^\n]", text, re.M), "a version of python"


def lists():
    """Each file that a local.mk lists exists, so that a release can be packed; those that a build generates have other endings."""
    missing = []
    for path in glob.glob(SOURCES + "/**/local.mk", recursive=True):
        folder = os.path.dirname(path)
        with open(path, encoding="utf-8") as file:
            words = re.findall(r"(?<![\w/)])%D%/[\w./-]+\.(?:c|h|hpp|f90|cu|cuh|py|md)\b", re.sub(r"(?m)^\s*#.*", "", file.read()))
        found = [one.replace("%D%", folder) for one in words]
        missing += [one for one in found if not os.path.exists(one) and not os.path.exists(one.replace(SOURCES, os.environ["BUILDDIR"], 1))]
    assert not missing, missing


{"conda": conda, "lists": lists, "rpm": rpm, "spack": spack, "easybuild": easybuild, "container": container}[KIND]()

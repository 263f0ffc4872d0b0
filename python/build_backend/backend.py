# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel and the source archive of this folder with the standard library only (PEP 517, PEP 660).

The package is Python and has no dependencies, so a wheel is a ZIP file with the modules and three metadata files.
packaging/wheel adds the program to one.
"""

import base64
import hashlib
import io
import os
import re
import tarfile
import zipfile
from pathlib import Path

HERE = Path(__file__).resolve().parent.parent
NAME = "sweetspot"
MOMENT = (1980, 1, 1, 0, 0, 0)  # the earliest that ZIP knows: two builds of one tree are the same file


def _version():
    text = (HERE / NAME / "__init__.py").read_text(encoding="utf-8")
    return re.search(r'^__version__ = "([^"]+)"', text, re.M).group(1)


def _project():
    """The table [project] of pyproject.toml, as much of it as is there: texts, and lists and tables of texts."""
    found, section = {}, ""
    text = re.sub(r",\s*\n\s*", ", ", re.sub(r"\[\s*\n\s*", "[", (HERE / "pyproject.toml").read_text(encoding="utf-8")))
    for line in text.splitlines():
        head = re.match(r"\[([\w.-]+)\]", line)
        section = head.group(1) if head else section
        match = re.match(r'"?([\w -]+?)"?\s*=\s*(.*)', line)
        if match:
            found.setdefault(section, {})[match.group(1)] = re.findall(r'"([^"]*)"', match.group(2))
    return found


def _metadata():
    project = _project()
    own = project["project"]
    lines = ["Metadata-Version: 2.1", "Name: " + NAME, "Version: " + _version(), "Summary: " + own["description"][0]]
    lines += ["Author: " + own["authors"][0], "License: " + own["license"][0], "Keywords: " + ",".join(own["keywords"])]
    lines += ["Project-URL: %s, %s" % (name, url[0]) for name, url in project["project.urls"].items()]
    lines += ["Classifier: " + each for each in own["classifiers"]]
    lines += ["Requires-Python: " + own["requires-python"][0]]
    for extra, needs in project["project.optional-dependencies"].items():
        lines += ["Provides-Extra: " + extra] + ['Requires-Dist: %s; extra == "%s"' % (each, extra) for each in needs]
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", readme])


def _info():
    return "%s-%s.dist-info" % (NAME, _version())


def _write_wheel(folder, files, tag="py3-none-any", programs=()):
    """Writes {path in the wheel: bytes} and the metadata; returns the file's name."""
    name = "%s-%s-%s.whl" % (NAME, _version(), tag)
    files = dict(files)
    files[_info() + "/METADATA"] = _metadata().encode()
    pure = "true" if tag.endswith("any") else "false"
    files[_info() + "/WHEEL"] = ("Wheel-Version: 1.0\nGenerator: sweetspot\nRoot-Is-Purelib: %s\nTag: %s\n" % (pure, tag)).encode()
    record = _info() + "/RECORD"
    lines = []
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append("%s,sha256=%s,%d\n" % (path, digest, len(data)))
            wheel.writestr(_entry(path, 0o755 if path in programs else 0o644), data)
        wheel.writestr(_entry(record), "".join(lines) + record + ",,\n")
    return name


def _entry(path, mode=0o644):
    entry = zipfile.ZipInfo(path, MOMENT)
    entry.external_attr = (0o100000 | mode) << 16  # pip makes regular files executable, nothing else
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _modules():
    return [path for path in sorted((HERE / NAME).rglob("*")) if path.suffix in (".py", ".typed")]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {str(path.relative_to(HERE)): path.read_bytes() for path in _modules()})


def write_binary_wheel(folder, installed, platform):
    """The package with an installation of the program beneath sweetspot/installed, {path in it: file}."""
    files = {str(path.relative_to(HERE)): path.read_bytes() for path in _modules()}
    inside = {"%s/installed/%s" % (NAME, path): Path(file) for path, file in installed.items()}
    programs = [path for path, file in inside.items() if os.access(file, os.X_OK)]
    files.update({path: file.read_bytes() for path, file in inside.items()})
    files[_info() + "/entry_points.txt"] = b"[console_scripts]\nsweetspot = sweetspot.__main__:main\n"
    return _write_wheel(folder, files, "py3-none-" + platform, programs)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {NAME + ".pth": (str(HERE) + "\n").encode()})


def build_sdist(sdist_directory, config_settings=None):
    top = "%s-%s" % (NAME, _version())
    name = top + ".tar.gz"
    with tarfile.open(Path(sdist_directory) / name, "w:gz", format=tarfile.PAX_FORMAT) as archive:
        names = _modules() + [HERE / "pyproject.toml", HERE / "README.md", Path(__file__).resolve()]
        for path in names + sorted((HERE / "tests").glob("*.py")):
            archive.add(path, "%s/%s" % (top, path.relative_to(HERE)))
        data = _metadata().encode()
        entry = tarfile.TarInfo(top + "/PKG-INFO")
        entry.size = len(data)
        archive.addfile(entry, io.BytesIO(data))
    return name

# SPDX-License-Identifier: BSD-3-Clause
"""Builds the wheel and the source archive of this folder with the standard library only (PEP 517, PEP 660).

The package is pure Python and has no dependencies, so a wheel is a ZIP file with the modules and three metadata files.
"""

import base64
import hashlib
import io
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


def _metadata():
    readme = (HERE / "README.md").read_text(encoding="utf-8")
    return (
        "Metadata-Version: 2.1\nName: %s\nVersion: %s\nSummary: Python interface of the Sweetspot autotuner\n"
        "License: BSD-3-Clause\nRequires-Python: >=3.9\nDescription-Content-Type: text/markdown\n\n%s"
        % (NAME, _version(), readme)
    )


def _info():
    return "%s-%s.dist-info" % (NAME, _version())


def _write_wheel(folder, files):
    """Writes {path in the wheel: bytes} and the metadata; returns the file's name."""
    name = "%s-%s-py3-none-any.whl" % (NAME, _version())
    files = dict(files)
    files[_info() + "/METADATA"] = _metadata().encode()
    files[_info() + "/WHEEL"] = b"Wheel-Version: 1.0\nGenerator: sweetspot\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    record = _info() + "/RECORD"
    lines = []
    with zipfile.ZipFile(Path(folder) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in sorted(files.items()):
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append("%s,sha256=%s,%d\n" % (path, digest, len(data)))
            wheel.writestr(_entry(path), data)
        wheel.writestr(_entry(record), "".join(lines) + record + ",,\n")
    return name


def _entry(path):
    entry = zipfile.ZipInfo(path, MOMENT)
    entry.external_attr = 0o644 << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    return entry


def _modules():
    return [path for path in sorted((HERE / NAME).rglob("*")) if path.suffix in (".py", ".typed")]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    return _write_wheel(wheel_directory, {str(path.relative_to(HERE)): path.read_bytes() for path in _modules()})


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

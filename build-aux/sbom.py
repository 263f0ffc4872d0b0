# SPDX-License-Identifier: GPL-3.0-or-later
"""usage: sbom.py SOURCES FOLDER: the files of a release in FOLDER and the libraries that they use, as SPDX 2.3 in JSON."""
import datetime, glob, hashlib, json, os, re, subprocess, sys

SOURCES, FOLDER = sys.argv[1:3]
# pkg-config's name: licence, and whether the wheel brings it along. What is opened at run time (CUDA, OpenCL, HIP) is the user's own.
LIBRARIES = {"hwloc": ("BSD-3-Clause", True), "gsl": ("GPL-3.0-or-later", True), "jansson": ("MIT", True), "sqlite3": ("blessing", True), "zlib": ("Zlib", True),
             "libdw": ("LGPL-3.0-or-later OR GPL-2.0-or-later", True), "papi": ("BSD-3-Clause", False)}


def read(path):
    with open(os.path.join(SOURCES, path), encoding="utf-8") as file:
        return file.read()


def digest(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def package(name, version, licence, **more):
    return {"SPDXID": "SPDXRef-" + re.sub("[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version, "licenseConcluded": licence, "licenseDeclared": licence,
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False, "copyrightText": "NOASSERTION", **more}


version = read("VERSION").strip()
epoch = int(os.environ.get("SOURCE_DATE_EPOCH", os.stat(os.path.join(SOURCES, "VERSION")).st_mtime))
wanted = set(re.findall(r"SS_(?:REQUIRE|WITH)_PKG\(\[(\w+)\]", read("configure.ac")))
packages = [package("sweetspot", version, "GPL-3.0-or-later AND BSD-3-Clause")]
links = [("SPDXRef-DOCUMENT", "DESCRIBES", "SPDXRef-sweetspot")]
for path in sorted(glob.glob(FOLDER + "/*.tar.gz") + glob.glob(FOLDER + "/*.whl") + glob.glob(FOLDER + "/*.deb")):
    packages.append(package(os.path.basename(path), version, "GPL-3.0-or-later AND BSD-3-Clause", packageFileName=os.path.basename(path),
                            checksums=[{"algorithm": "SHA256", "checksumValue": digest(path)}]))
    links.append((packages[-1]["SPDXID"], "VARIANT_OF", "SPDXRef-sweetspot"))
wheels = [one["SPDXID"] for one in packages if one["name"].endswith(".whl")]
for name, (licence, inside) in LIBRARIES.items():
    said = subprocess.run(["pkg-config", "--modversion", name], capture_output=True, text=True)
    packages.append(package(name, said.stdout.strip() or "NOASSERTION", licence))
    links.append(("SPDXRef-sweetspot", "DEPENDS_ON", packages[-1]["SPDXID"]))
    links += [(wheel, "CONTAINS", packages[-1]["SPDXID"]) for wheel in wheels if inside]
assert {"hwloc", "gsl", "jansson", "zlib"} <= wanted, wanted
seed = "".join(one.get("checksums", [{}])[0].get("checksumValue", "") for one in packages)
json.dump({
    "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": "sweetspot-" + version,
    "documentNamespace": f"https://github.com/sweetspot-tuner/sweetspot/sbom/{version}/{hashlib.sha256(seed.encode()).hexdigest()[:16]}",
    "creationInfo": {"created": datetime.datetime.fromtimestamp(epoch, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), "creators": ["Tool: build-aux/sbom.py"]},
    "packages": packages,
    "relationships": [{"spdxElementId": a, "relationshipType": kind, "relatedSpdxElement": b} for a, kind, b in links],
}, sys.stdout, indent=1)
print()

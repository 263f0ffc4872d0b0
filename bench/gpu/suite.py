# SPDX-License-Identifier: GPL-3.0-or-later
"""All measurements on a GPU, or the parts that are named: suite.py OUT.json [PART...]

SWEETSPOT_WORKER and SWEETSPOT name the programs, DEVICE the GPU. What is done is kept in OUT.json after each part."""
import json
import os
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cc
import fw
import gemm
import kmeans
import limits
import overhead
import search
import stencils
from device import DEVICE, Device

PARTS = {"overhead": overhead.measure, "fw": fw.measure, "kmeans": kmeans.measure, "cc": cc.measure, "quake": stencils.quake,
         "gol": stencils.gol, "gemm": gemm.measure, "search": search.measure, "several": fw.several}


def main(out, names):
    device, document = Device(), {"schema": "sweetspot-bench-gpu/1", "device": DEVICE, "parts": {}}
    described = device.ask({"op": "devices"})
    document["devices"] = described.get("devices", described)
    rows = document["parts"]["limits"] = []
    found = limits.measure(device, rows)
    for name in names:
        start, rows = time.time(), document["parts"].setdefault(name, [])
        try:
            PARTS[name](device, found, rows)
        except Exception as error:  # the others are still wanted; what happened is in the document
            document.setdefault("errors", {})[name] = repr(error)
            print(f"{name}: {error!r}", file=sys.stderr)
            device.drop()
        print(f"== {name}: {time.time() - start:.0f} s", file=sys.stderr, flush=True)
        document["failed"] = device.failed
        with open(out + ".new", "w") as file:
            json.dump(document, file, indent=1)
        os.replace(out + ".new", out)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:] or [name for name in PARTS if name != "several"])

# SPDX-License-Identifier: BSD-3-Clause
"""`python -m sweetspot WORD...` is the program."""

import os
import sys

from ._command import SweetspotError, program

try:
    path = program()
except SweetspotError as error:
    sys.exit("sweetspot: error: %s" % error)
os.execv(path, ["sweetspot", *sys.argv[1:]])

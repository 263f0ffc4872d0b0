# SPDX-License-Identifier: BSD-3-Clause
"""`python -m sweetspot WORD...` is the program."""

import os
import sys

from ._command import SweetspotError, program


def main() -> None:
    try:
        path = program()
    except SweetspotError as error:
        sys.exit("sweetspot: error: %s" % error)
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    main()

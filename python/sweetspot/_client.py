# SPDX-License-Identifier: BSD-3-Clause
"""The program that sweetspot(1) runs for each sample of a callable: it hands the words to the Python process that
tunes, and prints the answer. It imports little, because each run starts it anew."""

import os
import sys

try:
    import _socket as socket  # type: ignore[import-not-found,unused-ignore]  # the part in C: all of socket.py would double the time that Python takes to start
except ImportError:
    import socket  # type: ignore[no-redef]


def main() -> int:
    connection = socket.socket(socket.AF_UNIX)
    try:
        connection.connect(os.environ["SWEETSPOT_PYTHON_SOCKET"])
    except (KeyError, OSError) as error:
        sys.stderr.write("the Python process that tunes is gone: %s\n" % error)
        return 1
    connection.sendall("\0".join(sys.argv[1:]).encode() + b"\n")
    answer = b""
    while True:
        part = connection.recv(65536)
        if not part:
            break
        answer += part
    status, _, text = answer.decode("utf-8", "replace").partition("\n")
    if status in ("right", "wrong", "unchecked"):
        sys.stdout.write("%s\n%s\n" % (status, text))
        return 0
    sys.stderr.write((text or "the worker ended during this call") + "\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())

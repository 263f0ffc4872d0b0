# SPDX-License-Identifier: GPL-3.0-or-later
"""How long commands take that only look something up, as whole processes."""
import subprocess
import time

from common import ENVIRONMENT, PROGRAM, figure, finish, median

rows = []
for words in (["--help"], ["list"], ["list", "counters"], ["tune", "--help"]):
    times = []
    for _ in range(51):
        begun = time.perf_counter()
        subprocess.run([PROGRAM, *words], env=ENVIRONMENT, stdout=subprocess.DEVNULL, check=True)
        times.append(1e3 * (time.perf_counter() - begun))
    rows.append(figure("sweetspot " + " ".join(words), median(times), "ms", "< 20", median(times) < 20))
finish(rows)

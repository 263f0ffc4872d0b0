# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/manual %D%/two %D%/names %D%/experiments %D%/counters
slow_tests += %D%/manual %D%/two %D%/names %D%/experiments %D%/counters
EXTRA_DIST += %D%/counting-worker

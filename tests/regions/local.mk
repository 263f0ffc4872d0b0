# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/regions
slow_tests += %D%/regions
EXTRA_DIST += %D%/app.c

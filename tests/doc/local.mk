# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/tutorial %D%/pages
slow_tests += %D%/tutorial
TESTS += %D%/pages

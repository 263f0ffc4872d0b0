# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/tutorial %D%/pages %D%/blocks
slow_tests += %D%/tutorial %D%/blocks
TESTS += %D%/pages
EXTRA_DIST += %D%/blocks.py

# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/start %D%/pages %D%/blocks %D%/code
slow_tests += %D%/start %D%/blocks %D%/pages
TESTS += %D%/code
EXTRA_DIST += %D%/blocks.py %D%/code.py %D%/markdown.py %D%/results.py

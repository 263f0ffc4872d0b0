# SPDX-License-Identifier: GPL-3.0-or-later
STYLE_TESTS = %D%/rooms %D%/rooms_planted %D%/licences %D%/house %D%/manual
slow_tests += %D%/headers %D%/format %D%/musl
dist_check_SCRIPTS += $(STYLE_TESTS) %D%/headers %D%/format %D%/musl
TESTS += $(STYLE_TESTS)
EXTRA_DIST += %D%/rules.py

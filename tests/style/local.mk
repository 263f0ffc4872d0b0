# SPDX-License-Identifier: GPL-3.0-or-later
STYLE_TESTS = %D%/rooms %D%/rooms_planted %D%/licences %D%/headers %D%/house %D%/format %D%/manual
dist_check_SCRIPTS += $(STYLE_TESTS)
TESTS += $(STYLE_TESTS)

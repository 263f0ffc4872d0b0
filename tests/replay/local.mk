# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/replay %D%/own
slow_tests += %D%/replay %D%/own

# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/pages
TESTS += %D%/pages

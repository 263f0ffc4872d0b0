# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/profile %D%/merge %D%/verify
slow_tests += %D%/profile %D%/merge %D%/verify
EXTRA_DIST += %D%/profile.sh

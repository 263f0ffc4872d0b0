# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/terminal %D%/usage %D%/bundle %D%/signals %D%/odd %D%/others
TESTS += %D%/bundle %D%/signals %D%/odd %D%/others
slow_tests += %D%/terminal %D%/usage
EXTRA_DIST += %D%/json.sh

# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/terminal %D%/usage %D%/bundle
TESTS += %D%/bundle
slow_tests += %D%/terminal %D%/usage
EXTRA_DIST += %D%/json.sh

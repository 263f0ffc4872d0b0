# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/terminal %D%/usage %D%/bundle
TESTS += %D%/terminal %D%/usage %D%/bundle
EXTRA_DIST += %D%/json.sh

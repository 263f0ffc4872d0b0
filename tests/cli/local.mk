# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += %D%/json.sh
dist_check_SCRIPTS += %D%/usage %D%/handwork %D%/tune %D%/survive %D%/program %D%/apply

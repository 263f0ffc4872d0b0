# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/layers %D%/licences %D%/headers %D%/house %D%/manual
TESTS += %D%/layers %D%/licences %D%/headers %D%/house %D%/manual

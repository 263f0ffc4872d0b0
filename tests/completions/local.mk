# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/bash %D%/zsh %D%/fish
TESTS += %D%/bash %D%/zsh %D%/fish
EXTRA_DIST += %D%/cases.sh

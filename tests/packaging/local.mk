# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/recipes
TESTS += %D%/recipes
EXTRA_DIST += %D%/recipes.py

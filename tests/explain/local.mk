# SPDX-License-Identifier: GPL-3.0-or-later
dist_check_SCRIPTS += %D%/examination
EXPLAIN_RECORDED = cc fw gol_large gol_small kmeans_flat kmeans_sync kmeans_wide lists locks locks_over quake quake_collapse
EXTRA_DIST += %D%/recorded/README.md $(EXPLAIN_RECORDED:%=%D%/recorded/%.json)

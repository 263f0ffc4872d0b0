# SPDX-License-Identifier: GPL-3.0-or-later
EXTRA_DIST += %D%/run %D%/picture %D%/common.py %D%/latency.py %D%/overhead.py %D%/verdicts.py %D%/search.py %D%/spaces.py %D%/suite.py
.PHONY: bench
bench: all
	BUILDDIR='$(abs_top_builddir)' $(SHELL) $(srcdir)/bench/run bench.json

# SPDX-License-Identifier: GPL-3.0-or-later
schemadir = $(pkgdatadir)/schema
dist_schema_DATA = \
	%D%/schema/profile.json \
	%D%/schema/tune.json

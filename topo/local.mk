# SPDX-License-Identifier: BSD-3-Clause
# hwloc behind a small header; the worker links it too, so it is BSD.
noinst_LTLIBRARIES += libtopo.la
libtopo_la_SOURCES = %D%/topo_binding.c %D%/impl.h %D%/topo.c %D%/topo.h \
	%D%/xml.c
libtopo_la_LIBADD = libbase.la $(HWLOC_LIBS) $(JANSSON_LIBS)

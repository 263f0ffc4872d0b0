# SPDX-License-Identifier: GPL-3.0-or-later
# One library; each room adds its own files.
noinst_LTLIBRARIES += libtuner.la
# Programs that use it link $(TUNER) libbase.la, because merging archives costs libtool a process for each object.
TUNER = libtuner.la libprofile.la
libtuner_la_LIBADD = $(GSL_LIBS) $(SQLITE_LIBS) $(ZLIB_LIBS) $(LIBDW_LIBS) $(JANSSON_LIBS)
libtuner_la_SOURCES =
nodist_libtuner_la_SOURCES =

include %D%/space/local.mk
include %D%/search/local.mk
include %D%/strategy/local.mk
include %D%/surrogate/local.mk
include %D%/model/local.mk
include %D%/study/local.mk
include %D%/diagnosis/local.mk
include %D%/reading/local.mk
include %D%/probe/local.mk
include %D%/spec/local.mk
include %D%/trial/local.mk
include %D%/worker/local.mk
include %D%/race/local.mk
include %D%/bound/local.mk
include %D%/build/local.mk
include %D%/result/local.mk
include %D%/same/local.mk
include %D%/program/local.mk
include %D%/store/local.mk
include %D%/profile/local.mk
include %D%/export/local.mk
include %D%/record/local.mk
include %D%/regions/local.mk
include %D%/inside/local.mk
include %D%/replay/local.mk
include %D%/fleet/local.mk
include %D%/busy/local.mk
include %D%/tune/local.mk
include %D%/sizes/local.mk

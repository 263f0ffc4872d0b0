# SPDX-License-Identifier: BSD-3-Clause
if SHARED
# Loaded by libsweetspot when a program opens a kernel: all symbols but one are hidden, and it stays out of programs that
# launch none. Beside the worker, so that a bundle takes it along.
preload_LTLIBRARIES += libsweetspot-launcher.la
libsweetspot_launcher_la_SOURCES = %D%/kernel_impl.h %D%/launcher.c %D%/launcher_impl.h %D%/launcher_spec.c
libsweetspot_launcher_la_CFLAGS = $(AM_CFLAGS) -pthread
libsweetspot_launcher_la_LIBADD = libgpu.la libbase.la $(JANSSON_LIBS) -lm
libsweetspot_launcher_la_LDFLAGS = $(AM_LDFLAGS) -module -avoid-version -shared -no-undefined -pthread \
	-export-symbols-regex '^sweetspot_launcher$$' -Wl,-z,nodelete
endif

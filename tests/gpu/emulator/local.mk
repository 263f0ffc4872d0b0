# SPDX-License-Identifier: GPL-3.0-or-later
# A libcuda.so.1 and a libnvrtc.so.13 of our own, for tests only: `make emulator`, then
# LD_LIBRARY_PATH=$PWD/tests/gpu/emulator runs anything with them. Plain rules, as libtool would name them otherwise, and
# without sanitizers, which don't know fibers.
emulator_driver = %D%/block.c %D%/copy.c %D%/device.c %D%/event.c %D%/fiber.c %D%/function.c %D%/launch.c %D%/memory.c \
	%D%/module.c %D%/op.c %D%/signals.c %D%/stream.c %D%/warp.c
emulator_nvrtc = %D%/nvrtc/compile.c %D%/nvrtc/nvrtc.c %D%/nvrtc/objects.c %D%/nvrtc/text.c %D%/nvrtc/translate.c \
	base/hash.c
emulator_headers = %D%/abi.h %D%/block.h %D%/device.h %D%/fiber.h %D%/function.h %D%/launch.h %D%/link.h %D%/memory.h \
	%D%/signals.h %D%/stream.h %D%/stream_impl.h %D%/warp.h %D%/nvrtc/program.h
emulator_device = %D%/device/atomics.h %D%/device/device.h %D%/device/math.h %D%/device/numbers.h %D%/device/vectors.h \
	%D%/device/warp.h %D%/device/flags %D%/headers/cuda_fp16.h
include %D%/hip.mk
EXTRA_DIST += %D%/hip.c $(emulator_driver) $(emulator_nvrtc) $(emulator_headers) $(emulator_device)
# GCC reads a compiled header in a third of the time; it takes the one whose level of optimisation fits, or else the text.
emulator_compiled = %D%/compiled/device.h.gch/O0 %D%/compiled/device.h.gch/O1
%D%/compiled/device.h: Makefile
	$(AM_V_GEN)$(MKDIR_P) $(@D) && echo '#include "$(abs_top_srcdir)/tests/gpu/emulator/device/device.h"' >$@
$(emulator_compiled): %D%/compiled/device.h $(emulator_device) $(emulator_headers)
	$(AM_V_GEN)$(MKDIR_P) $(@D) && { test -z '$(EMULATOR_CXX)' || \
		$(EMULATOR_CXX) -x c++-header -$(@F) @$(abs_top_srcdir)/%D%/device/flags -shared %D%/compiled/device.h -o $@; }
clean-local-emulator:
	rm -rf %D%/compiled
.PHONY: clean-local-emulator
clean-local: clean-local-emulator
emulator_libraries = %D%/libcuda.so.1 %D%/libnvrtc.so.13 %D%/hip/libamdhip64.so.6 %D%/hip/libhiprtc.so.6
emulator_CC = $(CC) $(STD_CFLAGS) $(WARN_CFLAGS) -Wno-missing-prototypes -O2 -g -fPIC -shared -fvisibility=hidden \
	-I. -I$(abs_top_builddir) -Wl,-z,defs
check_DATA = $(emulator_libraries) $(emulator_compiled)
CLEANFILES += $(emulator_libraries)
.PHONY: emulator
emulator_paths = -DEMULATOR_HEADER='"$(abs_top_builddir)/%D%/compiled/device.h"' \
	-DEMULATOR_HEADERS='"$(abs_top_srcdir)/%D%/headers"' -DEMULATOR_FLAGS='"$(abs_top_srcdir)/%D%/device/flags"' -DEMULATOR_OBJECTS='"$(abs_top_builddir)/%D%/compiled/objects"'
emulator: $(emulator_libraries) $(emulator_compiled)
# The device's headers are part of NVRTC's version: what was compiled with others is not used.
%D%/libcuda.so.1: $(emulator_driver) $(emulator_headers)
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && cd $(srcdir) && \
		$(emulator_CC) $(emulator_driver) -Wl,-soname,libcuda.so.1 -o $(abs_top_builddir)/$@ -ldl
%D%/libnvrtc.so.13: $(emulator_nvrtc) $(emulator_device) $(emulator_headers) Makefile
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && cd $(srcdir) && \
		stamp=`cat $(emulator_device) %D%/link.h $(emulator_nvrtc) | cksum | tr ' ' -` && \
		$(emulator_CC) -DEMULATOR_CXX='"$(EMULATOR_CXX)"' -DEMULATOR_STAMP="\"$$stamp\"" \
		$(emulator_paths) $(emulator_nvrtc) \
		-Wl,-soname,libnvrtc.so.13 -o $(abs_top_builddir)/$@
# The same as HIP, in a folder of its own: one process rarely has both.
comma = ,
%D%/hip/libamdhip64.so.6: $(emulator_driver) $(emulator_headers) %D%/hip.c %D%/hip.mk
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && cd $(srcdir) && \
		$(emulator_CC) $(emulator_driver) %D%/hip.c $(addprefix -Wl$(comma)--defsym=,$(emulator_hip_names)) \
		-Wl,-soname,libamdhip64.so.6 -o $(abs_top_builddir)/$@ -ldl
%D%/hip/libhiprtc.so.6: $(emulator_nvrtc) $(emulator_device) $(emulator_headers) %D%/hip.mk Makefile
	$(AM_V_CCLD)$(MKDIR_P) $(@D) && cd $(srcdir) && \
		stamp=`cat $(emulator_device) %D%/link.h $(emulator_nvrtc) | cksum | tr ' ' -` && \
		$(emulator_CC) -DEMULATED_HIP -DEMULATOR_CXX='"$(EMULATOR_CXX)"' -DEMULATOR_STAMP="\"$$stamp\"" \
		$(emulator_paths) $(emulator_nvrtc) \
		$(addprefix -Wl$(comma)--defsym=,$(emulator_hiprtc_names)) -Wl,-soname,libhiprtc.so.6 -o $(abs_top_builddir)/$@

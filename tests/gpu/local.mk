# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/cupti %D%/cupti_device
%C%_cupti_SOURCES = %D%/cupti.c
%C%_cupti_LDADD = libcounters.la libbase.la
%C%_cupti_device_SOURCES = %D%/cupti_device.c
%C%_cupti_device_LDADD = libcounters.la libgpu.la libbase.la
TESTS += %D%/cupti %D%/cupti_device
EXTRA_DIST += %D%/transposes.cu
dist_check_SCRIPTS += %D%/cupti_list

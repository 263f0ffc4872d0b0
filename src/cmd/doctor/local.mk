# SPDX-License-Identifier: GPL-3.0-or-later
libapp_la_SOURCES += %D%/doctor_hardware.c %D%/doctor_impl.h

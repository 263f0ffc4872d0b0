# SPDX-License-Identifier: GPL-3.0-or-later
dist_man_MANS += %D%/sweetspot.1 %D%/sweetspot-worker.1 %D%/sweetspot_begin.3 %D%/sweetspot_end.3 %D%/libsweetspot.3 %D%/sweetspot-profile.5

# SPDX-License-Identifier: GPL-3.0-or-later
# Where the project lives: the one place that names its address.
m4_define([SS_PROJECT_URL],[https://github.com/sweetspot-tuner/sweetspot])
m4_define([SS_PROJECT_BUGS],[https://github.com/sweetspot-tuner/sweetspot/issues])

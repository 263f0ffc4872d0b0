/* SPDX-License-Identifier: BSD-3-Clause */
/* Programs for older versions of LIKWID include the marker API by this name. */
#ifndef LIKWID_H
#define LIKWID_H
#include "likwid-marker.h"
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files that read Python lists. All functions return 0, or -1 with an error that has the place in the
 * text. */
#ifndef BASE_T1_T1_IMPL_H
#define BASE_T1_T1_IMPL_H
#include "base/t1/t1.h"

#endif

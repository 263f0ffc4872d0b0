/* SPDX-License-Identifier: BSD-3-Clause */
/* How a kernel says what went wrong. */
#ifndef KERNELS_FAIL_H
#define KERNELS_FAIL_H
#include "kernels/kernel.h"

/* The message is one line without a newline; returns `status`. */
__attribute__((format(printf, 3, 4))) enum ss_status kernel_fail(const struct ss_call *call, enum ss_status status,
                                                                 const char *format, ...);

/* The answer of verify. */
#define kernel_wrong(call, ...) kernel_fail(call, SS_INCORRECT, __VA_ARGS__)
#endif

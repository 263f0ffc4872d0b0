/* SPDX-License-Identifier: BSD-3-Clause */
#include "kernels/fail.h"

#include <stdarg.h>
#include <stdio.h>

enum ss_status kernel_fail(const struct ss_call *call, enum ss_status status, const char *format, ...) {
	va_list ap;
	va_start(ap, format);
	if (call->message)
		vsnprintf(call->message, call->message_size, format, ap);
	va_end(ap);
	return status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Without any synchronization: the cost of the work on one thread. */
#include "kernels/lists/plain_impl.h"

const struct list_kind KERNEL_COUNTED(list_serial) = {
	.name = "serial", .flags = LIST_SERIAL, .contains = plain_contains, .add = plain_add, .remove = plain_remove};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Can this processor run the loops that were compiled for an instruction set? Defines NAME_usable. */
#ifndef KERNELS_ISA_H
#define KERNELS_ISA_H
#include <stdbool.h>

#define KERNEL_ISA(name, condition)                                                                                    \
	static bool name##_usable(void) {                                                                                  \
		return condition;                                                                                              \
	}
#define KERNEL_CPU_HAS(feature) __builtin_cpu_supports(feature)
#endif

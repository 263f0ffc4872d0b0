/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option --device: where kernels run. */
#ifndef SRC_APP_DEVICE_IMPL_H
#define SRC_APP_DEVICE_IMPL_H

#include "tuner/worker/worker.h"

struct device {
	char word[64];    /* "cpu", "cuda:0", "hip:0", "opencl:0", "opencl:pocl" */
	const char *kind; /* "cpu", "cuda", "hip" or "opencl", as in the tables of kernels */
};

extern const struct device device_cpu;
/* Reads "cpu", "cuda", "cuda:1", "hip", "hip:1", "opencl", "opencl:1" or "opencl:" and a part of a name; ERR_USAGE for
 * anything else. */
int device_read(const char *word, struct device *device, struct err *err);
#endif

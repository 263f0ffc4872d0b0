/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The option --device: where kernels run. */
#ifndef SRC_APP_DEVICE_H
#define SRC_APP_DEVICE_H
#include <jansson.h>

#include "tuner/worker/worker.h"

struct device {
	char word[16];    /* "cpu", "cuda:0" */
	const char *kind; /* "cpu" or "cuda", as in the tables of kernels */
};

extern const struct device device_cpu;
/* Reads "cpu", "cuda" or "cuda:1"; ERR_USAGE for anything else. */
int device_read(const char *word, struct device *device, struct err *err);

#endif

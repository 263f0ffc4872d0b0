/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Where kernels are to run: the option --device, and what the worker says of that GPU. */
#ifndef SRC_APP_DEVICE_H
#define SRC_APP_DEVICE_H
#include <jansson.h>

#include "tuner/worker/worker.h"

struct device {
	char word[16];    /* "cpu", "cuda:0" */
	const char *kind; /* "cpu", "cuda": as kernels' tables have it */
};

extern const struct device device_cpu;
/* "cpu", "cuda", "cuda:1"; ERR_USAGE for anything else. */
int device_read(const char *word, struct device *device, struct err *err);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_APP_APP_IMPL_H
#define SRC_APP_APP_IMPL_H
#include "src/app/cmd.h"

/* The option --device: where kernels run. */
struct device {
	char word[64];    /* "cpu", "cuda:0", "hip:0", "opencl:0", "opencl:pocl" */
	const char *kind; /* "cpu", "cuda", "hip" or "opencl", as in the tables of kernels */
};

extern const struct device device_cpu;
/* Reads "cpu", "cuda", "cuda:1", "hip", "hip:1", "opencl", "opencl:1" or "opencl:" and a part of a name; ERR_USAGE for
 * anything else. */
int device_read(const char *word, struct device *device, struct err *err);

/* The plug-ins that were loaded so far. Commands use app_kernel and the functions beside it in src/app/cmd.h. */
struct plugins;
struct plugins *plugins_new(void);
void plugins_free(struct plugins *plugins);
struct plugins *app_plugins(struct app *app);
#endif

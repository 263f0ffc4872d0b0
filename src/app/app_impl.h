/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_APP_APP_IMPL_H
#define SRC_APP_APP_IMPL_H
#include "src/app/cmd.h"

/* The plug-ins that were loaded so far. Commands use app_kernel and the functions beside it in src/app/cmd.h. */
struct plugins {
	struct plugin {
		char *path;
		struct kernel_list *kernels;
	} * items;
	size_t count;
};
struct plugins *app_plugins(struct app *app);
#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The plug-ins that were loaded so far. Commands use app_kernel and the functions beside it in src/app/cmd.h. */
#ifndef SRC_APP_PLUGIN_IMPL_H
#define SRC_APP_PLUGIN_IMPL_H
#include "src/app/cmd.h"

struct plugins;
struct plugins *plugins_new(void);
void plugins_free(struct plugins *plugins);
struct plugins *app_plugins(struct app *app);
#endif

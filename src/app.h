/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How main makes and ends what commands share; commands see only src/cmd.h. */
#ifndef SRC_APP_H
#define SRC_APP_H
#include "src/cmd.h"

/* interrupt: non-zero after the first Ctrl-C (finish the trial); abandon: after the second (give it up). */
struct app *app_new(struct ui *ui, int argc, char *const *argv, const volatile int *interrupt,
                    const volatile int *abandon);
int app_device_use(struct app *app, const char *word, struct err *err); /* "cuda:1" */
void app_free(struct app *app);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* How main makes and ends what commands share; commands see only src/app/cmd.h. */
#ifndef SRC_APP_APP_H
#define SRC_APP_APP_H
#include "src/base/sha256.h"
#include "src/app/cmd.h"

/* interrupt: non-zero after the first Ctrl-C (finish the trial); abandon: after the second (give it up). */
struct app *app_new(struct ui *ui, int argc, char *const *argv, const volatile int *interrupt,
                    const volatile int *abandon);
int app_device_use(struct app *app, const char *word, struct err *err); /* "cuda:1" */
void app_free(struct app *app);

/* The machine is that of a node from now on: topology, kernels, GPU and fingerprint are what this worker says, which is
 * also what app_worker gives. It must stay until app_node_leave, after which all is this machine's again. */
int app_node_use(struct app *app, struct worker *worker, struct err *err);
void app_node_leave(struct app *app);
/* What app_fingerprint would be on that node. */
int app_node_fingerprint(struct app *app, struct worker *worker, char fingerprint[SHA256_TEXT], struct err *err);
/* All is told as of that machine from now on, which a store or a file described; --device is as it says. What it lacks
 * is not there, and nothing must be measured. */
void app_machine_assume(struct app *app, const json_t *machine);
const volatile int *app_abandon(const struct app *app);
char *app_worker_path(struct err *err); /* of this installation; caller frees */
uint64_t app_address_space(void);       /* that a worker on this machine may take; 0: no limit */

#endif

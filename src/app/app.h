/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Creation and destruction of the state that commands share. Only main and the code for nodes include this; commands
 * include src/app/cmd.h. */
#ifndef SRC_APP_APP_H
#define SRC_APP_APP_H
#include "src/app/cmd.h"

/* interrupt becomes non-zero after the first Ctrl-C (finish the trial), abandon after the second one (give it up). */
struct app *app_new(struct ui *ui, int argc, char *const *argv, const volatile int *interrupt,
                    const volatile int *abandon);
int app_device_use(struct app *app, const char *word, struct err *err); /* word: for example "cuda:1" */
void app_free(struct app *app);
/* For a program whose options were taken for ours: a hint with the two dashes that are missing before it. words: those
 * before the options. */
void app_dashes_suggest(int words, int argc, char *const *argv, struct err *err);
/* The same if `first`, the first word that is not an option, names a program and one of its options was taken for ours:
 * -blur for -b lur. */
void app_dashes_missed(int words, int argc, char *const *argv, const char *first, struct err *err);

/* From now on the machine is that of a node: topology, kernels, GPU and fingerprint come from this worker, which
 * app_worker returns as well. The worker must live until app_node_leave, which restores this machine. */
int app_node_use(struct app *app, struct worker *worker, struct err *err);
void app_node_leave(struct app *app);
/* The value that app_fingerprint would have on that node. */
int app_node_fingerprint(struct app *app, struct worker *worker, char fingerprint[SHA256_TEXT], struct err *err);
/* From now on everything describes that machine, which was read from a store or a file; its "gpu" decides about
 * --device. Nothing may be measured, because the machine itself may be somewhere else. */
void app_machine_assume(struct app *app, const json_t *machine);
const volatile int *app_abandon(const struct app *app);
char *app_worker_path(struct err *err); /* the worker of this installation; the caller frees it */
/* A library that programs load, which is installed beside the worker or was built in libtool's folder; the caller frees
 * it. */
char *app_library_path(const char *name, struct err *err);
uint64_t app_address_space(void); /* limit of a worker on this machine; 0: unlimited */
#endif

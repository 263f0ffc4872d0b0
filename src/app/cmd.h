/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What every command is given, and the table of commands. */
#ifndef SRC_APP_CMD_H
#define SRC_APP_CMD_H
#include <jansson.h>
#include <stdbool.h>

#include "src/base/err.h"
#include "src/base/opt.h"
#include "src/topo/topo.h"
#include "src/ui/ui.h"
#include "tuner/worker/kernel_desc.h"
#include "tuner/worker/worker.h"

/* Opened on first use, closed by main. */
struct app;
struct ui *app_ui(struct app *app);
const volatile int *app_interrupt(const struct app *app); /* non-zero after the first Ctrl-C */
const char *app_command_line(const struct app *app);      /* as typed, quoted for a shell */
const char *app_device(const struct app *app);            /* of --device: "cuda:0"; NULL: the CPU */
const char *app_device_kind(const struct app *app);       /* as kernels' tables have it: "cpu", "cuda" */
/* The GPU of --device, which the worker opens for it: {"device","name","compute_capability",..}, borrowed. NULL with
 * ERR_UNAVAILABLE where it can't be had. On the CPU an empty object. */
const json_t *app_gpu(struct app *app, struct err *err);
/* {"parts","devices"}: what there is of CUDA and of GPUs, none of which is opened; borrowed. */
const json_t *app_devices(struct app *app, struct err *err);
struct topo *app_topo(struct app *app, struct err *err);
struct worker *app_worker(struct app *app, struct err *err);
const struct kernel_list *app_kernels(struct app *app, struct err *err);
/* What a word names, src/app/plugin.c: a built-in kernel, or the file of a plug-in (it has a slash or ends in .so) with
 * ":NAME" where the plug-in has several. ERR_USAGE with the nearest. */
const struct kernel_desc *app_kernel(struct app *app, const char *word, struct err *err);
/* All kernels that the words name; a plug-in without ":NAME" stands for all of its own. The caller frees the array. */
const struct kernel_desc **app_kernels_named(struct app *app, const struct opt_args *args, size_t *count,
                                             struct err *err);
const struct kernel_list *app_plugin(struct app *app, const char *path, struct err *err);
/* {"fingerprint": "sha256:..", topology, compiler, flags, openmp, ...}, with --device cuda also "gpu", which makes it
 * another machine: results of CPU and GPUs are never held for each other. Borrowed. */
const json_t *app_machine(struct app *app, struct err *err);
const char *app_fingerprint(struct app *app, struct err *err);
/* Ends the worker and closes the topology, before this process becomes another program; what is asked for later is
 * opened again. */
void app_release(struct app *app);

struct cmd {
	const char *name, *summary;
	const char *usage; /* lines, each as typed but for "sweetspot " */
	const struct opt *const
		*options;         /* its own tables, NULL-terminated; --json, --help and the like are common to all */
	const char *notes;    /* --help shows them before the options; NULL where the summary is enough */
	const char *examples; /* lines that work as they stand, at the end of --help */
	bool becomes_program; /* by exec: signals stay as this process found them */
	/* 0, or -1 with err set: main prints it and exits with err_exit_status */
	int (*run)(struct app *app, const struct opt_args *args, struct err *err);
};
extern const struct cmd *const cmd_registry[]; /* ends with NULL */
extern const struct opt cmd_common_options[];  /* --json --quiet --verbose --help --version */
extern const struct opt cmd_store_options[];   /* --store */
extern const struct opt cmd_device_options[];  /* --device, in the group of the table before it; main reads it */

#endif

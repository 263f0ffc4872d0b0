/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The interface between main and the commands: the state that commands share, and the table of commands. */
#ifndef SRC_APP_CMD_H
#define SRC_APP_CMD_H

#include "base/opt.h"
#include "base/hash.h"
#include "topo/topo.h"
#include "src/ui/ui.h"
#include "tuner/worker/kernel_desc.h"
#include "tuner/worker/worker.h"

/* The first failure counts: takes over `later` unless something has `failed` before. Returns -1 if either has. */
static inline int err_later(struct err *err, int failed, const struct err *later) {
	if (!failed && later->code != ERR_OK)
		*err = *later;
	return failed || later->code != ERR_OK ? -1 : 0;
}

/* Its parts are opened on first use, and main closes them. */
struct app;
struct ui *app_ui(struct app *app);
const volatile int *app_interrupt(const struct app *app); /* non-zero after the first Ctrl-C */
const char *app_command_line(const struct app *app);      /* as typed, quoted for a shell */
const char *app_device(const struct app *app);            /* from --device, for example "cuda:0"; NULL: the CPU */
const char *app_device_kind(const struct app *app); /* "cpu", "cuda", "hip" or "opencl", as in the tables of kernels */
/* Overrides --device with "cpu", "cuda:1" or the like; what was borrowed of the GPU and the machine is gone. */
int app_device_change(struct app *app, const char *word, struct err *err);
/* Describes the GPU of --device: {"device","name","compute_capability",..}. Borrowed.
 * NULL with ERR_UNAVAILABLE if the GPU is not available; an empty object on the CPU. */
const json_t *app_gpu(struct app *app, struct err *err);
/* Its architecture for CUDA, 90 for compute capability 9.0; 0: it has none. -1 with err if it cannot be opened. */
int app_gpu_arch(struct app *app, struct err *err);
/* Counts the GPUs of CUDA. Returns 0 on success. */
int app_gpus(struct app *app, size_t *count, struct err *err);
/* {"parts","devices"}: the installed parts of CUDA and the GPUs, without opening any; borrowed. */
const json_t *app_devices(struct app *app, struct err *err);
/* The worker's description with "counters", "groups", "events" and "groups_error", which that of app_kernels lacks;
 * borrowed. */
const json_t *app_counters(struct app *app, struct err *err);
struct topo *app_topo(struct app *app, struct err *err);
/* The machine in an hwloc XML file (lstopo FILE.xml), as `sweetspot machine --json` describes machines. New reference.
 */
json_t *app_machine_recorded(const char *path, struct err *err);
struct worker *app_worker(struct app *app, struct err *err);
const struct kernel_list *app_kernels(struct app *app, struct err *err);
/* Finds the kernel that a word names: a built-in one, or the file of a plug-in (it contains a slash or ends in .so)
 * followed by ":NAME" if the plug-in has several (src/app/plugin.c). ERR_USAGE suggests the nearest name. */
const struct kernel_desc *app_kernel(struct app *app, const char *word, struct err *err);
/* For a word that is not a kernel here, as `unknown` of app_kernel says, nor one of the `count` results in `names`:
 * puts both into err, with the name that is near, if there is one. */
void app_name_unknown(struct app *app, const char *word, const struct err *unknown, const char *const *names,
                      size_t count, struct err *err);
/* All kernels that the words name; a plug-in without ":NAME" stands for all of its kernels. The caller frees the array.
 */
const struct kernel_desc **app_kernels_named(struct app *app, const struct opt_args *args, size_t *count,
                                             struct err *err);
const struct kernel_list *app_plugin(struct app *app, const char *path, struct err *err);
/* {"fingerprint": "sha256:..", topology, compiler, flags, openmp, ...}. With --device cuda there is also "gpu", which
 * makes it another machine, so that results of CPU and GPU are never mixed. Borrowed. */
const json_t *app_machine(struct app *app, struct err *err);
const char *app_fingerprint(struct app *app, struct err *err);
/* The same without the GPU: that of the CPU's results on this machine. */
int app_fingerprint_host(struct app *app, char fingerprint[SHA256_TEXT], struct err *err);
/* Ends the worker and closes the topology before this process becomes another program. Both are opened again on their
 * next use. */
void app_release(struct app *app);

/* A verb: the first word of a command that does several things. */
struct cmd_verb {
	const char *name, *example;
	size_t least, most;                                                        /* the number of words after it */
	int (*run)(struct app *app, const struct opt_args *args, struct err *err); /* word 0 is the verb */
	const char *options[12]; /* those that it accepts, of the command's own; none: it accepts all */
};

struct cmd {
	const char *name, *summary;
	const char *usage; /* one per line, without the leading "sweetspot " */
	const struct opt *const
		*options;         /* its own tables, NULL-terminated; --json, --help and the like are common to all */
	const char *notes;    /* printed before the options of --help, or NULL */
	const char *examples; /* one per line, printed at the end of --help; each must work as it stands */
	bool becomes_program; /* by exec, so main leaves the signal handlers alone */
	bool only_reads;      /* a signal ends it at once, because nothing is lost */
	/* 0, or -1 with err set: main prints it and exits with err_exit_status */
	int (*run)(struct app *app, const struct opt_args *args, struct err *err);
	const struct cmd_verb *const
		*verbs;       /* NULL-terminated; they run in its place, after a check of their options and words */
	const char *verb; /* the one that runs if there is none; NULL: there has to be one */
};
extern const struct cmd *const cmd_registry[]; /* ends with NULL */
extern const struct opt cmd_common_options[];  /* --json --quiet --verbose --help --version */
extern const struct opt cmd_store_options[];   /* --store */
extern const struct opt cmd_device_options[];  /* --device, in the group of the table before it; main reads it */
#endif

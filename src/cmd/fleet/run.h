/* SPDX-License-Identifier: GPL-3.0-or-later */
/* `sweetspot fleet`: the parts of a run, one file each. Documents are kept as they are printed and saved. */
#ifndef SRC_CMD_FLEET_RUN_H
#define SRC_CMD_FLEET_RUN_H
#include <limits.h>

#include "src/base/sha256.h"
#include "src/app/cmd.h"
#include "src/cmd/fleet/ask.h"
#include "tuner/fleet/slurm_jobs.h"

enum { FLEET_NODES_MAX = 10000, FLEET_NAME_MAX = 255 };

struct fleet_run {
	struct app *app;
	const struct opt_args *args;
	struct arena *arena;
	char self[PATH_MAX], job[SLURM_JOBS_NAME];
	const char *partition; /* NULL: the default one */
	char **words;          /* of --srun-args */
	char *folder, *state;  /* the fleet directory, the file with what is known of it */
	int lock;              /* of the directory; -1: not taken */
	bool inside;           /* an allocation, whose nodes are used then */
	size_t per_type;
	double wait, budget; /* seconds; of comparisons between types */
	/* {"schema","key","store","folder","partition","nodes":[..],"types":[..],"losses":[..]} */
	json_t *document;
};

/* Options that only `fleet` has; all others of `fleet tune` go to `tune`. */
extern const struct opt *const fleet_passed[]; /* NULL-terminated */

/* fleet_setup.c: from the options. Call fleet_run_close in any case. */
int fleet_run_open(struct fleet_run *run, struct app *app, const struct opt_args *args, struct err *err);
void fleet_run_close(struct fleet_run *run);
bool fleet_name_ok(const char *name, const char *also); /* letters, digits, ._- and `also`, and no option */

/* A command line that grows. */
struct fleet_line {
	const char **words; /* NULL-terminated */
	size_t count;
};
void fleet_line_add(struct fleet_line *line, const char *word);
void fleet_line_words(struct fleet_line *line, const char *const *words); /* NULL is fine */
void fleet_line_options(struct fleet_line *line, const struct fleet_run *run, const struct opt *table); /* as given */
void fleet_line_srun(struct fleet_line *line, const struct fleet_run *run, const char *node);
/* `tune` with what was given to `fleet tune`, without its srun options. */
void fleet_line_tune(struct fleet_line *line, const struct fleet_run *run);
char *fleet_line_text(const struct fleet_line *line); /* quoted for a shell; caller frees */
void fleet_line_clear(struct fleet_line *line);
/* What was tuned, to tell whether --resume goes on with the same. Caller frees. */
char *fleet_key(const struct fleet_run *run);

/* fleet_nodes.c: [{"node","state","usable","fingerprint":null,"reason":null}] of sinfo. */
json_t *fleet_nodes_list(const struct fleet_run *run, struct err *err);
/* fleet_probe.c: asks each usable node for its machine and makes the types of the document. ERR_NOTHING: none answered.
 */
int fleet_probe(struct fleet_run *run, struct err *err);
/* fleet_machine.c: what a node says it is, checked: {"cpu","cores",..}. New reference. */
json_t *fleet_machine_read(const char *text, char fingerprint[SHA256_TEXT], struct err *err);
char *fleet_machine_text(const json_t *machine); /* "AMD EPYC 7763, NVIDIA H100"; caller frees */

/* fleet_state.c: the file. Takes over what is finished of the same tuning. */
int fleet_state_resume(struct fleet_run *run, struct err *err);
int fleet_state_save(const struct fleet_run *run, struct err *err);
json_t *fleet_state_load(const char *path, struct err *err); /* checked; NULL and ERR_OK where there is none */

/* fleet_types.c: tunes those that are not finished. */
int fleet_types_tune(struct fleet_run *run, struct err *err);
void fleet_type_label(size_t number, char label[8]); /* A, B, .. */
json_t *fleet_type_find(const json_t *document, const char *fingerprint);
bool fleet_type_done(const json_t *type);
/* fleet_losses.c: what each type loses with another's best. What the document has of an earlier run is taken over where
 * both types are as they were then. */
int fleet_losses_measure(struct fleet_run *run, struct err *err);

/* fleet_duel.c: one such. All borrowed; type has a's profile, and loss, which is written to, a row of the document. */
struct fleet_duel {
	json_t *loss;
	const json_t *type, *a, *b;
};
/* The configuration that a result recommends; NULL: none. */
const json_t *fleet_best_of(const json_t *result);
bool fleet_duel_possible(const struct fleet_run *run, const json_t *b);
/* Which holds it, or says in a roundabout way what can't be held. */
void fleet_duel_line(const struct fleet_run *run, const struct fleet_duel *duel, struct fleet_line *line);
void fleet_duel_run(struct fleet_run *run, const struct fleet_duel *duel);
void fleet_loss_outcome(json_t *loss, const char *state, const char *reason); /* reason may be NULL */
bool fleet_loss_measured(const json_t *loss);                                 /* with all numbers, and good ones */

/* fleet_child.c: our own program with its diagnostics shown as they come; Ctrl-C goes on to it. *text: what it wrote to
 * stdout, caller frees; its exit status, or -1. `set`: as in proc_spec. */
int fleet_child_run(struct app *app, const char *const *argv, const char *const *set, char **text, struct err *err);

/* fleet_plan.c */
int fleet_plan_check(struct fleet_run *run, struct err *err); /* would `tune` take the words? */
int fleet_plan_show(struct fleet_run *run, struct err *err);
/* fleet_show.c */
void fleet_show(const struct fleet_run *run);

/* fleet_status.c */
int fleet_status(struct app *app, const struct opt_args *args, struct err *err);

#endif

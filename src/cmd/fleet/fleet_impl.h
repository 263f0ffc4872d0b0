/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_CMD_FLEET_FLEET_IMPL_H
#define SRC_CMD_FLEET_FLEET_IMPL_H
#include <limits.h>

#include "base/proc/proc.h"
#include "src/app/cmd.h"
#include "tuner/fleet/launcher.h"

/* Runs Slurm commands and reads their answers, with limits of time and size. Several can run at once. */
struct fleet_answer {
	char *text;
	int status; /* as of wait(2) */
	bool late, large, stopped;
	char why[200]; /* why it failed, from its own diagnostics if possible; empty if it succeeded */
};

/* Starts the command and finishes it. */
int fleet_ask(const char *const *argv, double seconds, const volatile int *stop, struct fleet_answer *answer,
              struct err *err);
void fleet_answer_clear(struct fleet_answer *answer);

/* `sweetspot fleet`: the parts of a run, one file each. They share a JSON document that is also what is printed and
 * saved. */
enum { FLEET_NODES_MAX = 10000, FLEET_NAME_MAX = 255 };

struct fleet_run {
	const struct fleet_launcher *launcher; /* how nodes are found and reached, see launcher.h */
	struct app *app;
	const struct opt_args *args;
	struct arena *arena;
	char self[PATH_MAX], job[LAUNCH_NAME];
	const char *partition; /* NULL selects the default one */
	char **words;          /* words of --srun-args or --launcher-args */
	char *folder, *state;  /* the fleet directory, and its state file */
	int lock;              /* lock of the directory; -1 if it is not held */
	bool inside;           /* running inside an allocation of Slurm, so only its nodes are used */
	size_t per_type;
	double wait, budget; /* seconds; budget: of the comparisons between types */
	/* {"schema","key","store","folder","partition","nodes":[..],"types":[..],"losses":[..]} */
	json_t *document;
};

/* Options that only `fleet` has; all others of `fleet tune` go to `tune`. */
extern const struct opt *const fleet_passed[]; /* NULL-terminated */

/* Makes a run from the options. Call fleet_run_close even if it fails. */
int fleet_run_open(struct fleet_run *run, struct app *app, const struct opt_args *args, struct err *err);
void fleet_run_close(struct fleet_run *run);
bool fleet_name_ok(const char *name,
                   const char *also); /* letters, digits, ._- and those of `also`; not starting with - */

/* A command line that is built word by word. Words are borrowed. */
struct fleet_line {
	const char **words; /* NULL-terminated */
	size_t count;
};
void fleet_line_add(struct fleet_line *line, const char *word);
void fleet_line_words(struct fleet_line *line, const char *const *words); /* words may be NULL */
void fleet_line_options(struct fleet_line *line, const struct fleet_run *run,
                        const struct opt *table); /* as the user gave them */
/* Adds the options and words of `fleet tune` that are passed on to `tune`. */
void fleet_line_tune(struct fleet_line *line, const struct fleet_run *run);
char *fleet_line_text(const struct fleet_line *line); /* quoted for a shell; the caller frees it */
void fleet_line_clear(struct fleet_line *line);

/* The nodes of sinfo: [{"node","state","usable","fingerprint":null,"reason":null}]. */
json_t *fleet_nodes_list(const struct fleet_run *run, struct err *err);
/* Asks each usable node for its machine and adds the types to the document. ERR_NOTHING if none answered. */
int fleet_probe(struct fleet_run *run, struct err *err);
/* "AMD EPYC 7763, NVIDIA H100", for a column */
char *fleet_machine_text(const json_t *machine);

int fleet_state_save(const struct fleet_run *run, struct err *err);
json_t *fleet_state_load(const char *path, struct err *err); /* checked; NULL with ERR_OK if it does not exist */

/* Tunes the types that are not finished. */
int fleet_types_tune(struct fleet_run *run, struct err *err);
json_t *fleet_type_find(const json_t *document, const char *fingerprint);
bool fleet_type_done(const json_t *type);
/* Measures the loss of each type with the best of another type. Losses of an earlier run are kept if neither
 * type has been tuned since. */
int fleet_losses_measure(struct fleet_run *run, struct err *err);

/* Runs this program as a child with its diagnostics shown directly, and passes Ctrl-C on to it. Returns its
 * exit status, or -1. *text: its stdout, which the caller frees. set: as in proc_spec. */
int fleet_child_run(struct app *app, const char *const *argv, const char *const *set, char **text, struct err *err);

extern const struct cmd_verb verb_fleet_status;

/* How `fleet tune` finds and reaches the nodes: a struct for each launcher that it can use. */
struct fleet_launcher {
	const char *name;   /* of the launcher */
	const char *words;  /* the option with more words for its command */
	const char *silent; /* what to do if no node answers */
	bool batch;         /* allocates nodes of a partition, and its words name them */
	bool named;         /* the user names the nodes with --hosts */
	bool single;        /* its only node is this machine */
	/* Refuses options that do not fit. */
	int (*check)(const struct fleet_run *run, struct err *err);
	/* [{"node","state","usable","fingerprint":null,"reason":null}], or NULL. */
	json_t *(*nodes)(const struct fleet_run *run, struct err *err);
	/* Adds what runs the command on that node. */
	void (*line)(const struct fleet_run *run, const char *node, const char *const *command, struct fleet_line *line);
};

/* The line that runs `command`, which is cleared, on a node. */
void fleet_line_on(struct fleet_line *line, const struct fleet_run *run, const char *node, struct fleet_line *command);
#endif

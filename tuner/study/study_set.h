/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Studies under construction, one for each kernel, device and machine, filled from the store and from files. */
#ifndef TUNER_STUDY_STUDY_SET_H
#define TUNER_STUDY_STUDY_SET_H
#include "base/err.h"
#include "tuner/store/store.h"
#include "tuner/study/study.h"

struct study_item {
	struct study *study; /* the caller still has to call study_machine, study_recommend and study_finish */
	char *kernel, *device;
	json_t *machine, *ceilings; /* as in the file; NULL: this machine's */
	json_t *tunes;              /* objects of `tune --json`, the oldest first */
	double noise;               /* of the newest session that has it; NAN */
	size_t trials;
	json_t *table; /* how a table that somebody brought was read: its file, columns and what they are; else NULL */
};

struct study_set;
/* objective: "time", "energy" or "edp"; trials with another one are left out. */
struct study_set *study_set_new(const char *objective);
void study_set_free(struct study_set *set);
size_t study_set_count(const struct study_set *set);
struct study_item *study_set_at(const struct study_set *set, size_t i);
const char *study_set_objective(const struct study_set *set);
/* Everything that is added from here on was measured on this machine, whatever its file says. */
void study_set_assume(struct study_set *set, const json_t *machine);
/* Finds or adds an item. machine: NULL is this machine. */
struct study_item *study_set_item(struct study_set *set, const char *kernel, const char *device, const json_t *machine);
bool study_set_add(struct study_item *item, const struct study_trial *trial);

/* Extracts the worker's report, as in `run --json`: work, figures, counters, metrics, gpu, noise, placement, energy_j,
 * unsafe; with energies also the median of the seconds. New reference; NULL if it has none of these. */
json_t *study_detail(const json_t *reply);

/* Adds all trials of all searches of a machine, of the kernels that `wanted` accepts. */
struct study_choice {
	void *ctx;
	const char *const *kernels; /* NULL-terminated; NULL or empty: all */
	bool (*wanted)(void *ctx, const char *kernel, const char *source);
	/* Is a configuration unsafe to recommend? May be NULL. */
	bool (*unsafe)(void *ctx, const char *kernel, const json_t *problem, const json_t *config);
};
int study_set_store(struct study_set *set, struct store *store, const char *fingerprint, const char *device,
                    const struct study_choice *choice, struct err *err);
/* How a file is read. */
struct study_reading {
	const char *const *problem; /* the columns of a table that are the problem; problem_count 0: by their names */
	size_t problem_count;
	const char *device; /* NULL: as the file says */
};
/* Adds a file: a document of `sweep --json`, `tune --json`, `run --json` or `compare --json`, a recorded space
 * (tuner/record), gzipped or not, or a table (doc/tables.md). Its content is not trusted: ERR_USAGE names the position.
 * A file that does not describe its machine is of an unknown one, never of this host. */
int study_set_file(struct study_set *set, const char *path, const struct study_reading *reading, struct err *err);
/* The same for the text of a table; path: for messages, and for the name of the kernel. */
int study_set_table(struct study_set *set, const char *path, const char *text, size_t size,
                    const struct study_reading *reading, struct err *err);
/* A machine by words, "packages=4 cores=32 threads=64 l2=256K l3=16M". New reference. */
json_t *study_machine_words(const char *words, struct err *err);
/* The machine of a document, or the document itself if it describes one. New reference. */
json_t *study_machine_json(const json_t *json, struct err *err);
/* ERR_USAGE for numbers that no machine has. */
int study_machine_check(const json_t *machine, struct err *err);
json_t *study_machine_unknown(void); /* new reference */
bool study_machine_is_unknown(const json_t *machine);
int study_set_document(struct study_set *set, const json_t *document, struct err *err);
bool study_set_is_document(const json_t *json);

#endif

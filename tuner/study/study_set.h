/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Studies under construction, one for each kernel, device and machine, filled from the store and from files. */
#ifndef TUNER_STUDY_STUDY_SET_H
#define TUNER_STUDY_STUDY_SET_H
#include "src/base/err.h"
#include "tuner/store/store.h"
#include "tuner/study/study.h"

struct study_item {
	struct study *study; /* the caller still has to call study_machine, study_recommend and study_finish */
	char *kernel, *device;
	json_t *machine, *ceilings; /* as in the file; NULL: this machine's */
	json_t *tunes;              /* objects of `tune --json`, the oldest first */
	double noise;               /* of the newest session that has it; NAN */
	size_t trials;
};

struct study_set;
/* objective: "time", "energy" or "edp"; trials with another one are left out. */
struct study_set *study_set_new(const char *objective);
void study_set_free(struct study_set *set);
size_t study_set_count(const struct study_set *set);
struct study_item *study_set_at(const struct study_set *set, size_t i);
const char *study_set_objective(const struct study_set *set);
/* Finds or adds an item. machine: NULL is this machine. */
struct study_item *study_set_item(struct study_set *set, const char *kernel, const char *device, const json_t *machine);
bool study_set_add(struct study_item *item, const struct study_trial *trial);

/* Extracts the worker's report, as in `run --json`: work, figures, counters, metrics, gpu, noise, placement, energy_j,
 * unsafe; with energies also the median of the seconds. New reference; NULL if it has none of these. */
json_t *study_detail(const json_t *reply);

/* Adds all trials of all searches of a machine, of the kernels that `wanted` accepts. */
struct study_choice {
	void *ctx;
	bool (*wanted)(void *ctx, const char *kernel, const char *source);
	/* Is a configuration unsafe to recommend? May be NULL. */
	bool (*unsafe)(void *ctx, const char *kernel, const json_t *problem, const json_t *config);
};
int study_set_store(struct study_set *set, struct store *store, const char *fingerprint, const char *device,
                    const struct study_choice *choice, struct err *err);
/* Adds a file: a document of `sweep --json`, `tune --json`, `run --json` or `compare --json`, or a recorded space
 * (tuner/record), gzipped or not. Its content is not trusted: ERR_USAGE names the position. */
int study_set_file(struct study_set *set, const char *path, struct err *err);
int study_set_document(struct study_set *set, const json_t *document, struct err *err);
bool study_set_is_document(const json_t *json);

#endif

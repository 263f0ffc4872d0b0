/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Studies in the making: of each kernel, device and machine one, filled from the store and from files. */
#ifndef TUNER_STUDY_STUDY_SET_H
#define TUNER_STUDY_STUDY_SET_H
#include "src/base/err.h"
#include "tuner/store/store.h"
#include "tuner/study/study.h"

struct study_item {
	struct study *study; /* study_machine, study_recommend and study_finish are still due */
	char *kernel, *device;
	json_t *machine, *ceilings; /* as the file has them; NULL: this machine's */
	json_t *tunes;              /* objects of `tune --json`, oldest first */
	double noise;               /* of the newest session that knows; NAN */
	size_t trials;
};

struct study_set;
/* objective: "time", "energy", "edp": trials of another are left out. */
struct study_set *study_set_new(const char *objective);
void study_set_free(struct study_set *set);
size_t study_set_count(const struct study_set *set);
struct study_item *study_set_at(const struct study_set *set, size_t i);
const char *study_set_objective(const struct study_set *set);
/* Found or made. machine: NULL: this one. */
struct study_item *study_set_item(struct study_set *set, const char *kernel, const char *device, const json_t *machine);
bool study_set_add(struct study_item *item, const struct study_trial *trial);

/* The worker's report, as in `run --json`: work, figures, counters, metrics, gpu, noise, placement, energy_j,
 * unsafe; with energies also the median of the seconds. New reference; NULL where it says nothing of these. */
json_t *study_detail(const json_t *reply);

/* All trials of all searches of a machine, of kernels that `wanted` says yes to. */
struct study_choice {
	void *ctx;
	bool (*wanted)(void *ctx, const char *kernel, const char *source);
	/* Never to be recommended; may be NULL. */
	bool (*unsafe)(void *ctx, const char *kernel, const json_t *problem, const json_t *config);
};
int study_set_store(struct study_set *set, struct store *store, const char *fingerprint, const char *device,
                    const struct study_choice *choice, struct err *err);
/* A file: a document of `sweep --json`, `tune --json`, `run --json` or `compare --json`, or a recorded space
 * (tuner/record), gzipped or not. Hostile until checked: ERR_USAGE with the place. */
int study_set_file(struct study_set *set, const char *path, struct err *err);
int study_set_document(struct study_set *set, const json_t *document, struct err *err);
bool study_set_is_document(const json_t *json);

struct record;
int study_set_record(struct study_set *set, const struct record *record, const char *path, struct err *err);

#endif

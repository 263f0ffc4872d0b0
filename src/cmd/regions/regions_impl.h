/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef SRC_CMD_REGIONS_REGIONS_IMPL_H
#define SRC_CMD_REGIONS_REGIONS_IMPL_H

#include "base/json/js.h"
#include "src/cmd/regions/regions.h"
#include "src/plan/kokkos_program.h"
#include "tuner/profile/profile.h"
#include "tuner/regions/regions.h"

/* The program whose regions are meant, checked before it is run. */
struct regions_target {
	char *const *words; /* of the command, NULL-terminated */
	size_t count;
	char *path;    /* of the program, absolute */
	char *subject; /* what has the regions: path, the program that it starts, as mpirun does, or its script */
	char *library; /* libsweetspot-omp.so */
	struct kokkos_tool kokkos; /* for `run` */
	char *mpi;                 /* libsweetspot-mpi.so beside it, if a launcher of MPI starts the program; NULL: none */
};

/* command: for hints ("tune"). ERR_USAGE for a program that cannot be reached: static, setuid, without OpenMP. */
int regions_target_read(struct regions_target *target, struct app *app, const struct opt_args *args,
                        const char *command, struct err *err);
json_t *regions_target_command(const struct regions_target *target); /* its words; new reference */
void regions_target_clear(struct regions_target *target);
/* The subject of a command whose program is `path`. Caller frees. */
char *regions_subject(const char *path, char *const *words, size_t count);

/* The options of `tune` and `run` that make sense with --regions; ERR_USAGE for others. */
int regions_options_check(const struct opt_args *args, const struct opt *const *tables, struct err *err);
/* The options of a program that make sense here; counters and table are left out. */
int regions_options_read(struct app *app, const struct opt_args *args, const struct regions_target *target,
                         struct regions_options *options, struct err *err);

/* result: of tune; command: how to run the program so. */
void regions_result_print(struct ui *ui, const json_t *result, const char *command);

/* The document that is kept for the program of a command; without words that of the only program there is. */
json_t *regions_file_of_words(struct app *app, const struct opt_args *args, char *const *words, size_t count,
                              struct err *err);
/* Its settings were compared with the program's own in pairs of runs, and are faster. */
static inline bool regions_document_proven(const json_t *document) {
	return ssp_use_of(document) == SSP_PROVEN && !js_bool_or(document, "busy", false);
}
#endif

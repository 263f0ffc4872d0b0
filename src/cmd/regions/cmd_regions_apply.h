/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Settings of regions are kept beside the store in two files per program: NAME-KEY.json for people and tools, and
 * NAME-KEY.table for libsweetspot-omp. The key is a hash of the program's path and the machine. */
#ifndef SRC_CMD_REGIONS_CMD_REGIONS_APPLY_H
#define SRC_CMD_REGIONS_CMD_REGIONS_APPLY_H
#include "src/cmd/regions/target_impl.h"

struct regions_files {
	char *folder, *json, *table;
};

int regions_files_of(struct app *app, const struct opt_args *args, const char *program, struct regions_files *files,
                     struct err *err);
void regions_files_clear(struct regions_files *files);
/* The same for the words of a command, none for any. */
json_t *regions_file_of_words(struct app *app, const struct opt_args *args, char *const *words, size_t count,
                              struct err *err);
/* Every document in the folder in the order of names, until `visit` returns non-zero, which is then returned. Files
 * that cannot be read are left out. */
int regions_files_each(const struct opt_args *args, int (*visit)(void *ctx, const json_t *document), void *ctx);

/* Its settings were compared with the program's own in pairs of runs, and are faster. */
bool regions_document_proven(const json_t *document);

/* Keeps the result of `tune --regions`, which `apply --regions` then uses. */
/* chosen: the table of the result, which is moved to its place. A result that proves nothing does not replace settings
 * of the same build that were proven; people are told. */
int regions_keep(struct app *app, const struct regions_files *files, const struct regions_target *target,
                 const char *chosen, json_t *result, struct err *err);
#endif

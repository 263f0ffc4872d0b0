/* SPDX-License-Identifier: BSD-3-Clause */
/* The surroundings of one trial's commands: folder, environment, scratch and limits. */
#ifndef WORKER_PROGRAM_PLACE_H
#define WORKER_PROGRAM_PLACE_H
#include "base/mem.h"
#include "worker/program/request.h"
#include "worker/program/run.h"
#include "base/scratch.h"

struct program_site {
	struct program_place place;
	struct scratch scratch;
	const char *folder; /* inside it: TMPDIR of a run */
};

/* watch: as in struct program_place. */
int program_site_open(struct arena *arena, struct program_request *request, int watch, struct program_site *site,
                      struct err *err);
/* Empties the folder that the next run gets as TMPDIR, because a program that finds its own cache looks faster. */
int program_site_refresh(const struct program_site *site, struct err *err);
/* The trial's environment and further variables ("NAME=VALUE", NULL-terminated); free(3). */
char **program_site_environment(struct arena *arena, const struct program_request *request,
                                const char *const *variables);
void program_site_close(struct program_site *site);
/* The program's stdin from its start, or -1 and err. A relative path begins in the program's folder. */
int program_site_input(const struct program_site *site, const char *path, struct err *err);

#endif

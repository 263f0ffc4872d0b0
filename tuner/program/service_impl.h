/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The things around a program while it runs: a server that --setup starts, and configuration files that --template
 * fills in. Both follow the parameters that they name, and live on from run to run as long as these do not change. */
#ifndef TUNER_PROGRAM_SERVICE_IMPL_H
#define TUNER_PROGRAM_SERVICE_IMPL_H
#include "tuner/program/impl.h"

struct service;
/* Reads the templates. ERR_USAGE if one cannot be read or written. NULL in *out if there is nothing to care for. */
int service_new(const struct program *program, struct service **out, struct err *err);
/* The text of a template; NULL: there are not so many. */
const char *service_text(const struct service *service, size_t number);
/* Fills texts for the configuration: program_fill and program_command. */
struct service_filler {
	char *(*text)(const struct program_case *one, const char *text, bool shell, const char **missing);
	char *(*command)(const struct program_case *one, const char *text, const char **missing);
};
/* Makes everything ready for this configuration; again: also starts again what runs. False with *why (caller frees) if
 * that fails, or with err if it would fail for each: something else answers already. */
bool service_use(struct service *service, const struct program_case *one, const struct service_filler *filler,
                 bool again, char **why, struct err *err);
/* Ends what runs, and gives files that were there before their content back. */
void service_free(struct service *service);
#endif

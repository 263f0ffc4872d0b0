/* SPDX-License-Identifier: GPL-3.0-or-later */
/* What a program needs around it while it runs: a server that --setup starts, and configuration files that --template
 * fills in. Both follow the parameters that they name, and live on from run to run as long as these do not change. */
#ifndef TUNER_PROGRAM_SERVICE_IMPL_H
#define TUNER_PROGRAM_SERVICE_IMPL_H
#include "tuner/program/impl.h"

struct service;
/* Reads the templates. ERR_USAGE if one cannot be read or written. NULL in *out if there is nothing to care for. */
int service_new(const struct program *program, struct service **out, struct err *err);
/* Does a template name the parameter? */
bool service_mentions(const struct service *service, const char *param);
/* Makes everything ready for this configuration. False with *why (caller frees) if that fails, and err if it would fail
 * for each: something else answers already. */
bool service_use(struct service *service, const struct program_case *one, char **why, struct err *err);
/* What runs is started again before the next run. */
void service_doubt(struct service *service);
/* Ends what runs, and gives files that were there before their content back. */
void service_free(struct service *service);

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the specification back from what program_json has written into a result or a profile. */
#ifndef TUNER_PROGRAM_PROGRAM_JSON_H
#define TUNER_PROGRAM_PROGRAM_JSON_H

#include "base/mem.h"
#include "tuner/program/command.h"
#include "tuner/program/program.h"

/* The texts are borrowed from `program`, lists are allocated from the arena. baseline may be NULL. */
struct program_spec program_recorded(struct arena *arena, const json_t *program, const json_t *baseline);

/* The names that can be filled in: all parameters or, with `config`, those that have a value, so that others keep their
 * braces. The caller frees the list. */
struct template_names program_recorded_names(const json_t *program, const json_t *config);
char *program_recorded_value(const void *config, const char *name);
/* Fills in the values of `config`, and "." for {SOURCE} and {BUILD} without a value. With `shell`, each value is
 * quoted. The caller frees it. */
char *program_recorded_fill(const char *template, bool shell, const json_t *program, const json_t *config);
/* The command as words for exec; new reference. */
json_t *program_recorded_words(const json_t *program, const json_t *config);
#endif

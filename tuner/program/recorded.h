/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads the specification back from what program_json has written into a result or a profile. */
#ifndef TUNER_PROGRAM_RECORDED_H
#define TUNER_PROGRAM_RECORDED_H
#include <jansson.h>

#include "base/mem.h"
#include "tuner/program/program.h"

/* The texts are borrowed from `program`, lists are allocated from the arena. baseline may be NULL. */
struct program_spec program_recorded(struct arena *arena, const json_t *program, const json_t *baseline);

#endif

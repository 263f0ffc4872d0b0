/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Parts of entries as people read them. */
#ifndef SRC_CMD_PROFILE_TEXT_H
#define SRC_CMD_PROFILE_TEXT_H
#include <jansson.h>
#include <stddef.h>

/* Callers free what is returned. "fw (energy)": what is no time, and what is no CPU's, is told. */
char *profile_text_kernel(const json_t *entry);
char *profile_text_problem(const json_t *entry);
char *profile_text_config(const json_t *entry);
char *profile_text_clean(const char *text); /* a copy that is safe on a terminal */
/* A median with its unit, "2.10x [2.05, 2.15]"; "-" where it is not known. */
void profile_text_median(const json_t *entry, char *text, size_t size);
void profile_text_speedup(const json_t *speedup, char *text, size_t size);
/* The members of an entry that its documents have: kernel, problem, objective, device. New reference. */
json_t *profile_text_head(const json_t *entry);

#endif

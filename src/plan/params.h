/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All parameters of a kernel on this machine: its own and those that every OpenMP kernel gets for free; and the words
 * P=V by which people name them. */
#ifndef SRC_PLAN_PARAMS_H
#define SRC_PLAN_PARAMS_H
#include <jansson.h>

#include "src/base/err.h"
#include "src/base/mem.h"
#include "src/topo/topo.h"
#include "tuner/worker/kernel_desc.h"

enum { PARAMS_ROOM = 64 + 5 };

struct params {
	const struct kernel_desc *kernel;
	struct kernel_param items[PARAMS_ROOM]; /* threads proc_bind places schedule chunk first, as far as it has them */
	size_t count;
	struct arena *arena;
};

/* oversubscribe: threads goes one step beyond the hardware threads. */
void params_init(struct params *params, const struct kernel_desc *kernel, const struct topo *topo, bool oversubscribe);
void params_clear(struct params *params);
/* The sizes of teams that are worth a try, as a domain. */
const char *params_thread_counts(struct arena *arena, const struct topo *topo, bool oversubscribe);
/* Does a condition hold beside these values? As in a space: one that mentions what is absent does not. NULL holds.
 * problem may be NULL. */
int params_when_holds(const char *when, const json_t *problem, const json_t *config, bool *out, struct err *err);
const struct kernel_param *params_find(const struct params *params, const char *name);

/* The default problem. New reference. */
json_t *params_problem(const struct params *params);
/* "P=V": goes into problem when P belongs to the problem, into config otherwise; problem or config may be NULL when
 * that kind is not wanted. ERR_USAGE for unknown names and values, with the nearest. */
int params_word(const struct params *params, const char *word, json_t *problem, json_t *config, struct err *err);
/* "P=V,P=V" or "P=V P=V"; one that begins with a text is that text to its end. */
int params_words(const struct params *params, const char *words, json_t *problem, json_t *config, struct err *err);
/* The baseline with `config`'s members in place of its own: every parameter whose condition holds, and all that
 * config names. New reference. */
json_t *params_complete(const struct params *params, const json_t *problem, const json_t *config, struct err *err);

#endif

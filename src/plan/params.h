/* SPDX-License-Identifier: GPL-3.0-or-later */
/* All parameters of a kernel on this machine: its own and those that every OpenMP kernel gets. Also parses the words
 * P=V that set them. */
#ifndef SRC_PLAN_PARAMS_H
#define SRC_PLAN_PARAMS_H

#include "base/opt.h"
#include "topo/topo.h"
#include "tuner/space/space.h"
#include "tuner/worker/kernel_desc.h"

enum { PARAMS_ROOM = 64 + 5 };

struct params {
	const struct kernel_desc *kernel;
	struct kernel_param items[PARAMS_ROOM]; /* first threads proc_bind places schedule chunk, if the kernel has them */
	size_t count;
	struct arena *arena;
};

/* oversubscribe: threads also gets twice the number of hardware threads. */
void params_init(struct params *params, const struct kernel_desc *kernel, const struct topo *topo, bool oversubscribe);
void params_clear(struct params *params);
/* The thread counts worth trying, as the text of a domain. */
const char *params_thread_counts(struct arena *arena, const struct topo *topo, bool oversubscribe);
/* Restricts the space, which already has threads, proc_bind and places, to one combination for each distinct binding.
 * Of several equal ones the first stays: unbound comes first, then the places from the best known kind to the least
 * known.
 */
int bindings_add(struct space *space, const struct topo *topo, struct err *err);
/* Tells whether a condition holds with these values. As in a space, a condition on an absent parameter does not hold.
 * NULL holds always. problem may be NULL. */
int params_when_holds(const char *when, const json_t *problem, const json_t *config, bool *out, struct err *err);
const struct kernel_param *params_find(const struct params *params, const char *name);

/* The default problem. New reference. */
json_t *params_problem(const struct params *params);
/* Parses "P=V" into problem if P belongs to the problem, else into config; either may be NULL if its names are not
 * allowed. ERR_USAGE for unknown names and values, with the nearest known one as a hint. */
int params_word(const struct params *params, const char *word, json_t *problem, json_t *config, struct err *err);
/* Parses "P=V,P=V" or "P=V P=V". If the first P is a text, the rest of `words` is its value. */
int params_words(const struct params *params, const char *words, json_t *problem, json_t *config, struct err *err);
/* Completes config with the baseline's value of every other parameter whose condition holds. New reference. */
json_t *params_complete(const struct params *params, const json_t *problem, const json_t *config, struct err *err);
/* The text after "P=" of the last --range or --set for this parameter. */
const char *params_given(const struct opt_args *args, const char *option, const char *name);
#endif

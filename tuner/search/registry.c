/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/search/strategy.h"

#define STRATEGY(name) extern const struct strategy strategy_##name;
#include "tuner/strategy/registry.def"
#undef STRATEGY

#define STRATEGY(name) &strategy_##name,
const struct strategy *const strategy_registry[] = {
#include "tuner/strategy/registry.def"
	NULL};
#undef STRATEGY

const struct strategy *strategy_find(const char *name) {
	for (const struct strategy *const *s = strategy_registry; *s; s++)
		if (strcmp((*s)->name, name) == 0)
			return *s;
	return NULL;
}

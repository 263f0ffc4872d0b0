/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/fleet/launcher.h"

#define LAUNCHER(name) extern const struct launcher launcher_##name;
#include "tuner/fleet/registry.def"
#undef LAUNCHER

#define LAUNCHER(name) &launcher_##name,
const struct launcher *const launcher_registry[] = {
#include "tuner/fleet/registry.def"
	NULL};
#undef LAUNCHER

const struct launcher *launcher_find(const char *name) {
	for (const struct launcher *const *l = launcher_registry; *l; l++)
		if (strcmp((*l)->name, name) == 0)
			return *l;
	return NULL;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */

#include "tuner/export/export.h"

#define EXPORT(name) extern const struct export_format export_##name;
#include "tuner/export/registry.def"
#undef EXPORT

#define EXPORT(name) &export_##name,
const struct export_format *const export_registry[] = {
#include "tuner/export/registry.def"
	NULL};
#undef EXPORT

const struct export_format *export_find(const char *name) {
	if (strcmp(name, "likwid-pin") == 0) /* the program's name, which people type */
		name = "likwid";
	for (const struct export_format *const *format = export_registry; *format; format++)
		if (strcmp((*format)->name, name) == 0)
			return *format;
	return NULL;
}

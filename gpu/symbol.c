/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds variables and mangled functions in a user's module. */
#include <config.h>

#include <stdio.h>
#include <string.h>

#include "gpu/impl.h"

gpu_ptr gpu_module_symbol(struct gpu *gpu, const struct gpu_module *module, const char *name, size_t *size) {
	driver_ptr at = 0;
	*size = 0;
	if (!module || gpu->backend || !gpu_enter(gpu))
		return 0;
	if (!gpu->driver.module_global) {
		gpu_lacks(gpu, "module_global");
		return 0;
	}
	driver_result result = gpu->driver.module_global(&at, size, module->handle, name);
	return result == DRIVER_NOT_FOUND || !gpu_succeeded(gpu, "module_global", result) ? 0 : at;
}

/* _Z, the length of the name, the name, its parameters: what C++ calls a function outside of namespaces and templates
 * (Itanium C++ ABI, 5.1 "External Names (a.k.a. Mangling)"). */
const char *gpu_module_entry(const struct gpu_module *module, const char *name) {
	char mangled[COMPILED_NAME];
	int length = snprintf(mangled, sizeof mangled, "_Z%zu%s", strlen(name), name);
	for (size_t i = 0; module && length < (int)sizeof mangled && i < module->compiled_count; i++)
		if (strncmp(module->compiled[i].name, mangled, (size_t)length) == 0)
			return module->compiled[i].name;
	return name;
}

int gpu_function_parameters(struct gpu *gpu, const struct gpu_function *function, size_t *sizes, int most) {
	size_t offset;
	int count = 0;
	if (gpu->backend && function) {
		for (; count < function->parameters && count < most; count++)
			sizes[count] = 0;
		return function->parameters < 0 ? -1 : count;
	}
	if (!gpu->driver.function_parameter || !function || !gpu_enter(gpu))
		return -1;
	while (count < most &&
	       gpu->driver.function_parameter(function->handle, (size_t)count, &offset, &sizes[count]) == DRIVER_SUCCESS)
		count++;
	return count;
}

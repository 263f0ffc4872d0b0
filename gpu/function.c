/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gpu/impl.h"
#include "src/base/mem.h"

static int number(struct gpu *gpu, driver_function function, int which) {
	int value = 0;
	return GPU_CALL(gpu, function_attribute, &value, which, function) ? value : 0;
}

static void facts_read(struct gpu *gpu, const struct gpu_module *module, struct gpu_function *function) {
	struct gpu_function_facts *facts = &function->facts;
	facts->registers = number(gpu, function->handle, DRIVER_FUNCTION_REGISTERS);
	facts->shared_bytes = number(gpu, function->handle, DRIVER_FUNCTION_SHARED);
	facts->local_bytes = number(gpu, function->handle, DRIVER_FUNCTION_LOCAL);
	facts->threads_max = number(gpu, function->handle, DRIVER_FUNCTION_THREADS);
	for (size_t i = 0; i < module->compiled_count; i++)
		if (strcmp(module->compiled[i].name, function->name) == 0)
			facts->spill_bytes = module->compiled[i].facts.spill_bytes;
}

static struct gpu_function *function_make(struct gpu *gpu, struct gpu_module *module, const char *name) {
	struct gpu_function *function = mem_alloc(1, sizeof *function);
	driver_result result = gpu->driver.module_function(&function->handle, module->handle, name);
	if (result == DRIVER_NOT_FOUND)
		gpu_fail(gpu, GPU_COMPILE, "%.*s does not define an extern \"C\" __global__ %s", (int)strcspn(module->id, "\n"),
		         module->id, name);
	else
		gpu_succeeded(gpu, "module_function", result);
	if (result != DRIVER_SUCCESS) {
		free(function);
		return NULL;
	}
	snprintf(function->name, sizeof function->name, "%s", name);
	facts_read(gpu, module, function);
	function->next = module->functions;
	return module->functions = function;
}

const struct gpu_function *gpu_function(struct gpu *gpu, const struct gpu_module *module, const char *name) {
	if (!module || !gpu_enter(gpu))
		return NULL;
	for (const struct gpu_function *function = module->functions; function; function = function->next)
		if (strcmp(function->name, name) == 0)
			return function;
	if (strlen(name) >= COMPILED_NAME) {
		gpu_fail(gpu, GPU_COMPILE, "a kernel's name is too long: %s", name);
		return NULL;
	}
	for (struct gpu_module *own = gpu->modules; own; own = own->next)
		if (own == module)
			return (gpu->backend ? gpu->backend->function : function_make)(gpu, own, name);
	gpu_fail(gpu, GPU_REFUSED, "%s: the module is of another GPU", name);
	return NULL;
}

const struct gpu_function_facts *gpu_function_facts(const struct gpu_function *function) {
	return &function->facts;
}

void gpu_function_pass(struct gpu *gpu, const struct gpu_function *function, const struct gpu_passed *passed,
                       size_t count) {
	struct gpu_function *own = (struct gpu_function *)(uintptr_t)function; /* const for callers */
	if (!gpu->backend || !function)
		return;
	free(own->passed);
	own->passed = mem_alloc(count + 1, sizeof *passed);
	memcpy(own->passed, passed, count * sizeof *passed);
	own->passed_count = count;
}

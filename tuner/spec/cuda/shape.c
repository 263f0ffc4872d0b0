/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Grid, block and shared memory of a configuration, and its document for the worker. */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json/js.h"
#include "tuner/spec/cuda/impl.h"

/* An OpenCL device tells its own limit of a work group. */
static const double THREADS_LARGEST = 1024, ITEMS_LARGEST = 1 << 20, BLOCKS_LARGEST = INT32_MAX,
					GLOBAL_LARGEST = 0x1p50;
static const char *const axes[] = {"X", "Y", "Z"};
static const char *const divisors[] = {"GridDivX", "GridDivY", "GridDivZ"};
const char *const cuda_macros[7] = {"block_size_x", "block_size_y", "block_size_z", "grid_size_x",
                                    "grid_size_y",  "grid_size_z",  "kernel_tuner"};

static bool is_there(const json_t *json) {
	return json && !json_is_null(json);
}

/* {"X": .., "Y": ..} or [.., ..]; an absent member is 1. */
static int three(const struct cuda_names *names, const json_t *json, const char *where, double max, double out[3],
                 struct err *err) {
	for (int i = 0; i < 3; i++) {
		const json_t *one = json_is_object(json)  ? json_object_get(json, axes[i])
		                    : json_is_array(json) ? json_array_get(json, (size_t)i)
		                    : i == 0              ? json
		                                          : NULL;
		char place[64];
		snprintf(place, sizeof place, "%s.%s", where, axes[i]);
		out[i] = 1;
		if (is_there(one) && cuda_whole(names, one, place, 1, max, &out[i], err))
			return -1;
	}
	return 0;
}

static const struct cuda_name *name_find(const struct cuda_names *names, const char *name) {
	for (size_t i = 0; i < names->count; i++)
		if (strcmp(names->at[i].name, name) == 0)
			return &names->at[i];
	return NULL;
}

static int block_of(const struct cuda_kernel *kernel, const struct cuda_names *names, double block[3],
                    struct err *err) {
	const json_t *local = json_object_get(kernel->json, "LocalSize");
	double most = kernel->opencl ? ITEMS_LARGEST : THREADS_LARGEST;
	if (is_there(local))
		return three(names, local, "LocalSize", most, block, err);
	for (int i = 0; i < 3; i++) {
		const struct cuda_name *name = name_find(names, cuda_macros[i]);
		bool whole = name && name->value.type == VALUE_INT && name->value.as.i > 0;
		if (name && (!whole || (double)name->value.as.i > most))
			return err_set(err, ERR_USAGE, NULL, "%s is not a valid number of threads", cuda_macros[i]);
		if (i == 0 && !name)
			return err_set(err, ERR_USAGE, "\"LocalSize\": {\"X\": \"block_size_x\"}, or a parameter block_size_x",
			               "the size of a block is missing");
		block[i] = name ? (double)name->value.as.i : 1;
	}
	return 0;
}

/* Kernel Tuner's rule: without a list the divisor is the size of the block in that direction, if that is a parameter.
 */
static int divisor_of(const struct cuda_kernel *kernel, const struct cuda_names *names, int axis, double *out,
                      struct err *err) {
	const json_t *list = json_object_get(kernel->json, divisors[axis]);
	const struct cuda_name *name = name_find(names, cuda_macros[axis]);
	size_t count = json_is_array(list) ? json_array_size(list) : is_there(list) ? 1 : 0;
	*out = !is_there(list) && name && name->value.type == VALUE_INT ? (double)name->value.as.i : 1;
	if (count > CUDA_DIVISORS_MAX)
		return err_set(err, ERR_USAGE, NULL, "%s has more than %d members", divisors[axis], CUDA_DIVISORS_MAX);
	for (size_t i = 0; i < count; i++) {
		double one;
		if (cuda_evaluate(names, json_is_array(list) ? json_array_get(list, i) : list, divisors[axis], &one, err))
			return -1;
		*out *= one;
	}
	return *out > 0 ? 0 : err_set(err, ERR_USAGE, NULL, "%s: cannot divide by %g", divisors[axis], *out);
}

static int grid_by_division(const struct cuda_kernel *kernel, const struct cuda_names *names, double grid[3],
                            struct err *err) {
	for (int i = 0; i < 3; i++) {
		double divisor;
		if (divisor_of(kernel, names, i, &divisor, err))
			return -1;
		grid[i] = ceil(kernel->problem[i] / divisor);
	}
	return 0;
}

static int grid_of(const struct cuda_kernel *kernel, const struct cuda_names *names, const double block[3],
                   double grid[3], struct err *err) {
	const json_t *global = json_object_get(kernel->json, "GlobalSize");
	const char *type = js_string_or(kernel->json, "GlobalSizeType", kernel->opencl ? "OpenCL" : "CUDA");
	bool threads = strcasecmp(type, "OpenCL") == 0, divided = !is_there(global);
	for (int i = 0; i < 3; i++)
		divided = divided || is_there(json_object_get(kernel->json, divisors[i]));
	if (divided)
		return grid_by_division(kernel, names, grid, err);
	if (!threads && strcasecmp(type, "CUDA") != 0)
		return err_set(err, ERR_USAGE, "use CUDA (blocks) or OpenCL (threads)", "GlobalSizeType \"%.40s\" is unknown",
		               type);
	if (three(names, global, "GlobalSize", GLOBAL_LARGEST, grid, err))
		return -1;
	for (int i = 0; i < 3 && threads; i++)
		grid[i] = ceil(grid[i] / block[i]);
	return 0;
}

struct cuda_names cuda_names_of(const struct cuda_kernel *kernel, const json_t *config) {
	struct cuda_names names = kernel->names;
	const char *name;
	json_t *member;
	names.at = mem_alloc(kernel->names.count + SPACE_PARAMS_MAX + 1, sizeof *names.at);
	memcpy(names.at, kernel->names.at, kernel->names.count * sizeof *names.at);
	json_object_foreach((json_t *)config, name, member) {
		struct value value;
		if (value_from_json(member, &value) && names.count < kernel->names.count + SPACE_PARAMS_MAX)
			cuda_names_set(&names, name, value);
	}
	return names;
}

int cuda_shape_of(const struct cuda_kernel *kernel, const json_t *config, struct cuda_shape *shape, struct err *err) {
	struct cuda_names names = cuda_names_of(kernel, config);
	const json_t *shared = json_object_get(kernel->json, "SharedMemory");
	shape->shared = 0;
	int failed = block_of(kernel, &names, shape->block, err) || grid_of(kernel, &names, shape->block, shape->grid, err);
	if (!failed && is_there(shared))
		failed = cuda_whole(&names, shared, "SharedMemory", 0, INT32_MAX, &shape->shared, err);
	for (int i = 0; i < 3 && !failed; i++)
		if (!(shape->grid[i] >= 1 && shape->grid[i] <= BLOCKS_LARGEST))
			failed =
				err_set(err, ERR_USAGE, NULL, "a grid of %g blocks in %s cannot be launched", shape->grid[i], axes[i]);
	free(names.at);
	return failed ? -1 : 0;
}

static json_t *three_json(const double at[3]) {
	return json_pack("[I,I,I]", (json_int_t)at[0], (json_int_t)at[1], (json_int_t)at[2]);
}

/* Kernel Tuner defines these macros beside the parameters; they are added if the source has the word. */
static void macros_add(const struct cuda_kernel *kernel, const json_t *config, const struct cuda_shape *shape,
                       json_t *defines) {
	const double values[7] = {
		shape->block[0], shape->block[1], shape->block[2], shape->grid[0], shape->grid[1], shape->grid[2], 1};
	for (int i = 0; i < 7; i++)
		if (kernel->macro[i] && !json_object_get(config, cuda_macros[i]))
			json_array_append_new(defines, json_sprintf("-D%s=%.0f", cuda_macros[i], values[i]));
}

json_t *cuda_config_json(const struct cuda_kernel *kernel, const json_t *config, bool reference, struct err *err) {
	struct cuda_shape shape;
	const char *name, *define;
	json_t *member;
	if (cuda_shape_of(kernel, config, &shape, err))
		return NULL;
	struct arena *arena = arena_new();
	json_t *defines = json_array();
	json_object_foreach((json_t *)config, name, member) {
		struct value value = value_int(0);
		define = value_from_json(member, &value) ? c_define(arena, name, value, err) : NULL;
		if (!define) {
			json_decref(defines);
			defines = NULL;
			goto done;
		}
		json_array_append_new(defines, json_string(define));
	}
	macros_add(kernel, config, &shape, defines);
done:
	arena_free(arena);
	return defines ? json_pack("{s:o,s:o,s:o,s:I,s:b}", "defines", defines, "grid", three_json(shape.grid), "block",
	                           three_json(shape.block), "shared", (json_int_t)shape.shared, "reference", reference)
	               : NULL;
}

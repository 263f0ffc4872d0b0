/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles a configuration for a device that another process drives. */
#include <sys/stat.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "base/t1/t1.h"
#include "base/text.h"
#include "worker/kernel/call.h"
#include "worker/kernel/word.h"
#include "worker/source/source.h"

/* A compiled configuration, with its own copy of the memory that it writes. */
/* Elements of arguments: filling them, or reading them from files. */

#define RANDOM_STEP UINT64_C(0x9E3779B97F4A7C15)

/* splitmix64 (Steele, Lea and Flood 2014): the n-th number follows from the seed plus n steps. */
static uint64_t random_next(uint64_t *state) {
	uint64_t z = *state += RANDOM_STEP;
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

static void whole_put(unsigned char *at, size_t bytes, uint64_t value) {
	for (size_t i = 0; i < bytes; i++) /* GPUs and their hosts are little-endian */
		at[i] = (unsigned char)(value >> (8 * i));
}

static void real_put(unsigned char *at, size_t bytes, double value) {
	float narrow = (float)value;
	memcpy(at, bytes == 4 ? (void *)&narrow : (void *)&value, bytes);
}

static void element_fill(const struct source_argument *a, unsigned char *at, uint64_t *random) {
	if (a->kind == SOURCE_REAL) {
		real_put(at, a->bytes, a->random ? (double)(random_next(random) >> 11) * 0x1p-53 * a->real : a->real);
	} else {
		bool bounded = a->random && a->whole != UINT64_MAX;
		whole_put(at, a->bytes,
		          bounded     ? random_next(random) % (a->whole + 1)
		          : a->random ? random_next(random)
		                      : a->whole);
	}
}

enum { FILL_GRAIN = 1 << 16 };

/* Fills an argument: the same values, however many threads of the team share the work. */
static void source_fill(const struct source_argument *argument, size_t at, uint64_t seed, unsigned char *out) {
	const uint64_t first = seed * RANDOM_STEP + at * UINT64_C(0xD1B54A32D192ED03);
#pragma omp taskloop grainsize(FILL_GRAIN)
	for (size_t i = 0; i < argument->count; i++) {
		uint64_t random = first + i * RANDOM_STEP;
		element_fill(argument, out + i * argument->bytes, &random);
	}
}

/* Reads a file of exactly this many bytes. */
static enum ss_status source_load(const struct ss_call *call, const char *path, unsigned char *out, size_t size) {
	struct stat file;
	FILE *in = fopen(path, "re");
	enum ss_status status = SS_OK;
	if (!in || fstat(fileno(in), &file) != 0 || !S_ISREG(file.st_mode))
		status = source_fail(call, SS_INVALID, "%.150s cannot be read", path);
	else if ((uint64_t)file.st_size != size)
		status = source_fail(call, SS_INVALID, "%.150s has %jd bytes, not %zu", path, (intmax_t)file.st_size, size);
	else if (fread(out, 1, size, in) != size)
		status = source_fail(call, SS_INVALID, "%.150s cannot be read to its end", path);
	if (in)
		fclose(in);
	return status;
}

/* Arguments before a run: made once, shared by all configurations. */

enum { FILE_LARGEST = 16 << 20, SPARE = 16 };

/* With its guard. */
static gpu_ptr source_vector_new(struct gpu *gpu, size_t size) {
	gpu_ptr memory = gpu_alloc(gpu, size + SOURCE_GUARD);
	if (memory)
		source_guard_set(gpu, memory + size);
	return memory;
}

static enum ss_status vector_open(struct source_input *input, size_t i, const struct ss_call *call) {
	const struct source_argument *a = &input->problem.arguments[i];
	struct source_vector *v = &input->vectors[i];
	size_t size = source_size(a);
	v->host = malloc(size);
	v->want = a->output ? malloc(size) : NULL;
	if (!v->host || (a->output && !v->want))
		return source_fail(call, SS_NOMEM, "cannot allocate %zu bytes for %.60s", size, a->name);
	enum ss_status status = SS_OK;
	if (a->file)
		status = source_load(call, a->file, v->host, size);
	else
		source_fill(a, i, call->seed, v->host);
	if (status == SS_OK && a->output && a->reference) {
		status = source_load(call, a->reference, v->want, size);
		if (status == SS_OK)
			status = source_finite(call, a, v->want);
		v->known = status == SS_OK;
	}
	/* A vector that is only written takes no more than a part of the memory a second time, to be filled again faster.
	 */
	bool kept = a->access != SOURCE_WRITE_ONLY || (int64_t)size <= gpu_facts(call->gpu)->memory_bytes / SPARE;
	if (status == SS_OK && a->memory != SOURCE_SCALAR && kept) {
		v->device = source_vector_new(call->gpu, size);
		gpu_upload(call->gpu, v->device, v->host, size);
	}
	return status;
}

static enum ss_status say(const struct ss_call *call, enum ss_status status, const struct err *err) {
	return source_fail(call, status, "%.240s", err->what);
}

static enum ss_status source_open(void *memory, const struct ss_call *call) {
	struct source_input *input = memory;
	struct err err = {.code = ERR_OK};
	enum ss_status status = SS_OK;
	input->arena = arena_new();
	input->gpu = call->gpu;
	if (source_problem_read(input->arena, call->problem[0].w, &input->problem, &err) != 0) {
		input->problem.count = 0;
		return say(call, SS_INVALID, &err);
	}
	input->text = sys_read_file(input->problem.file, FILE_LARGEST, &(size_t){0}, &err);
	if (!input->text)
		return say(call, SS_INVALID, &err);
#pragma omp parallel num_threads(omp_get_num_procs())
#pragma omp master
	{
#pragma omp task
		source_look_open(input, true);
		for (size_t i = 0; i < input->problem.count && status == SS_OK; i++)
			status = vector_open(input, i, call);
	}
	if (status == SS_OK)
		status = cuda_status(call);
	if (status != SS_OK)
		return status;
	source_look_open(input, false);
	for (size_t i = 0; i < input->problem.count; i++)
		if (input->vectors[i].known)
			source_wanted(input, i, 0);
	return cuda_status(call);
}

static void source_close(void *memory) {
	struct source_input *input = memory;
	for (size_t i = 0; i < SOURCE_ARGUMENTS_MAX; i++) {
		free(input->vectors[i].host);
		free(input->vectors[i].want);
		gpu_free(input->gpu, input->vectors[i].device);
		gpu_free(input->gpu, input->vectors[i].wanted);
	}
	gpu_free(input->gpu, input->slots);
	free(input->text);
	arena_free(input->arena);
}

static enum ss_status reference_check(const struct source_state *state, const struct ss_call *call) {
	const struct source_input *input = state->input;
	for (size_t i = 0; i < input->problem.count; i++)
		if (input->problem.arguments[i].output && input->problem.arguments[i].by != SOURCE_COMMAND &&
		    !input->vectors[i].known && !state->config.reference)
			return source_fail(call, SS_FAILED, "no reference yet: first run a configuration with it");
	return SS_OK;
}

/* The name of the source in the compiler's messages. */
static const char *source_name(const struct source_problem *problem) {
	return text_base_name(problem->file);
}

/* The options of the problem and the configuration, NULL-terminated, in room for SOURCE_OPTIONS_MAX + 2. */
static const char *const *options_of(const struct source_problem *problem, const struct source_config *config,
                                     const char **room) {
	size_t count = 0;
	for (; problem->options[count]; count++)
		room[count] = problem->options[count];
	room[count] = config->compiler;
	room[count + (config->compiler != NULL)] = NULL;
	return room;
}

static const struct gpu_module *module_make(const struct source_state *state, const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	const char *options[SOURCE_OPTIONS_MAX + 2];
	mem_auto char *text = t1_source(state->config.defines, state->input->text);
	return gpu_module_text(call->gpu, source_name(problem), text, options_of(problem, &state->config, options), NULL);
}

/* A size of 0 is not known. */
static bool fits(const struct source_argument *a, size_t size) {
	return size == 0 || size == (a->memory == SOURCE_SCALAR ? a->bytes : sizeof(gpu_ptr));
}

static void argument_add(struct source_state *state, struct gpu_passed *passed, size_t at, size_t i) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	bool scalar = a->memory == SOURCE_SCALAR;
	state->passed[at] = scalar ? (void *)state->input->vectors[i].host : &state->at[i];
	passed[at] =
		(struct gpu_passed){scalar ? GPU_PASSED_VALUE : GPU_PASSED_MEMORY, scalar ? a->bytes : sizeof(gpu_ptr)};
}

/* OpenCL has no dynamic local memory but that of a parameter, which is the last one. */
static bool takes_local(const struct source_state *state, int count, const struct ss_call *call) {
	return gpu_facts(call->gpu)->kind == GPU_OPENCL && state->config.shape.shared &&
	       count == (int)state->input->problem.count + 1;
}

/* Passes all arguments if there are as many parameters; with fewer, those in constant memory are not passed. If the
 * driver cannot tell the count, all are passed, because surplus arguments at the end are harmless. */
static enum ss_status arguments_bind(struct source_state *state, const bool *symbols, const struct ss_call *call) {
	const struct source_problem *problem = &state->input->problem;
	size_t sizes[SOURCE_ARGUMENTS_MAX + 1], constants = 0, passed = 0;
	struct gpu_passed kinds[SOURCE_ARGUMENTS_MAX + 1];
	int count = gpu_function_parameters(call->gpu, state->function, sizes, SOURCE_ARGUMENTS_MAX + 1);
	for (size_t i = 0; i < problem->count; i++)
		constants += symbols[i];
	bool local = takes_local(state, count, call), all = count < 0 || local || (size_t)count == problem->count;
	if (!all && (size_t)count != problem->count - constants) {
		return source_fail(call, SS_COMPILE, "parameters of %.60s: %s%d, arguments given: %zu", problem->function,
		                   count > SOURCE_ARGUMENTS_MAX ? "over " : "",
		                   count > SOURCE_ARGUMENTS_MAX ? SOURCE_ARGUMENTS_MAX : count, problem->count);
	}
	for (size_t i = 0; i < problem->count; i++) {
		const struct source_argument *a = &problem->arguments[i];
		if (!all && symbols[i])
			continue;
		if (count >= 0 && !fits(a, sizes[passed])) {
			return source_fail(call, SS_COMPILE, "parameter %zu of %.60s has %zu bytes, but argument %.60s %zu",
			                   passed + 1, problem->function, sizes[passed], a->name,
			                   a->memory == SOURCE_SCALAR ? a->bytes : sizeof(gpu_ptr));
		}
		argument_add(state, kinds, passed++, i);
	}
	if (local)
		kinds[passed++] = (struct gpu_passed){GPU_PASSED_LOCAL, state->config.shape.shared};
	gpu_function_pass(call->gpu, state->function, kinds, passed);
	return SS_OK;
}

static enum ss_status constant_set(struct source_state *state, const struct gpu_module *module, size_t i, bool *found,
                                   const struct ss_call *call) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	size_t room;
	gpu_ptr at = gpu_module_symbol(call->gpu, module, a->name, &room);
	*found = at != 0;
	if (at && room < source_size(a)) {
		return source_fail(call, SS_INVALID, "__constant__ %.60s has room for %zu bytes, not %zu", a->name, room,
		                   source_size(a));
	}
	if (at)
		gpu_upload(call->gpu, at, state->input->vectors[i].host, source_size(a));
	return SS_OK;
}

static void memory_make(struct source_state *state, size_t i, struct gpu *gpu) {
	const struct source_argument *a = &state->input->problem.arguments[i];
	const struct source_vector *v = &state->input->vectors[i];
	if (a->memory == SOURCE_SCALAR)
		return;
	state->at[i] = v->device;
	if (a->access == SOURCE_READ_ONLY)
		return;
	state->at[i] = state->own[i] = source_vector_new(gpu, source_size(a));
	if (v->device)
		gpu_copy(gpu, state->own[i], v->device, source_size(a));
	else
		gpu_upload(gpu, state->own[i], v->host, source_size(a));
}

static enum ss_status source_setup(void *memory, void *input, const struct ss_call *call) {
	struct source_state *state = memory;
	struct err err = {.code = ERR_OK};
	bool symbols[SOURCE_ARGUMENTS_MAX] = {false};
	state->arena = arena_new();
	state->input = input;
	if (source_config_read(state->arena, call->config[0].w, &state->config, &err) != 0)
		return say(call, SS_INVALID, &err);
	const struct source_problem *problem = &state->input->problem;
	enum ss_status status = reference_check(state, call);
	const struct gpu_module *module = status == SS_OK ? module_make(state, call) : NULL;
	state->function = gpu_function(call->gpu, module, gpu_module_entry(module, problem->function));
	if (status == SS_OK)
		status = cuda_status(call);
	for (size_t i = 0; i < problem->count && status == SS_OK; i++) {
		memory_make(state, i, call->gpu);
		if (problem->arguments[i].memory == SOURCE_CONSTANT)
			status = constant_set(state, module, i, &symbols[i], call);
	}
	if (status == SS_OK)
		status = arguments_bind(state, symbols, call);
	return status == SS_OK ? cuda_status(call) : status;
}

static void source_teardown(void *memory) {
	struct source_state *state = memory;
	for (size_t i = 0; i < SOURCE_ARGUMENTS_MAX; i++)
		if (state->own[i])
			gpu_free(state->input->gpu, state->own[i]);
	arena_free(state->arena);
}

static void source_reset(void *memory, const struct ss_call *call) {
	struct source_state *state = memory;
	const struct source_input *input = state->input;
	for (size_t i = 0; i < input->problem.count; i++)
		if (input->problem.arguments[i].access == SOURCE_READ_WRITE)
			gpu_copy(call->gpu, state->at[i], input->vectors[i].device, source_size(&input->problem.arguments[i]));
}

static enum ss_status source_run(void *memory, const struct ss_call *call) {
	struct source_state *state = memory;
	gpu_launch(call->gpu, state->function, &state->config.shape, state->passed);
	return SS_OK;
}

static const struct ss_param text_param[] = {
	{.name = "text", .summary = "a specification, as JSON", .type = SS_TEXT, .initial = "{}", .max = SOURCE_TEXT_MAX},
	{.name = NULL},
};

#define SOURCE_KERNEL(called, kind, reset_hook)                                                                        \
	{                                                                                                                  \
		.abi = SS_KERNEL_ABI, .name = called, .summary = "a function of a specification", .problem = text_param,       \
		.params = text_param, .input_size = sizeof(struct source_input), .state_size = sizeof(struct source_state),    \
		.open = source_open, .setup = source_setup, .reset = reset_hook, .run = source_run, .verify = source_verify,   \
		.teardown = source_teardown, .close = source_close, .device = kind                                             \
	}

static const struct ss_kernel cuda = SOURCE_KERNEL("t1", "cuda", NULL),
							  cuda_reset = SOURCE_KERNEL("t1-reset", "cuda", source_reset),
							  opencl = SOURCE_KERNEL("t1", "opencl", NULL),
							  opencl_reset = SOURCE_KERNEL("t1-reset", "opencl", source_reset),
							  hip = SOURCE_KERNEL("t1", "hip", NULL),
							  hip_reset = SOURCE_KERNEL("t1-reset", "hip", source_reset);
const struct kernel_entry source_entries[] = {{&cuda, "t1"},         {&cuda_reset, "t1"}, {&opencl, "t1"},
                                              {&opencl_reset, "t1"}, {&hip, "t1"},        {&hip_reset, "t1"},
                                              {.kernel = NULL}};

struct job {
	struct source_problem problem;
	struct source_config config;
	int64_t arch;
};

static int text_read(const json_t *request, const char *key, const char **text, struct err *err) {
	json_t *object;
	return js_object(request, key, &object, err) || js_string(object, "text", text, err) ? -1 : 0;
}

static int job_read(struct arena *arena, const json_t *request, struct job *job, struct err *err) {
	static const char *const keys[] = {"op", "id", "problem", "config", "arch"};
	const char *problem, *config;
	if (word_check_keys(request, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    text_read(request, "problem", &problem, err) || text_read(request, "config", &config, err) ||
	    js_int(request, "arch", COMPILE_ARCH_LEAST, COMPILE_ARCH_MOST, &job->arch, err) ||
	    source_problem_read(arena, problem, &job->problem, err) || source_config_read(arena, config, &job->config, err))
		return -1;
	return 0;
}

static json_t *job_run(struct gpu_compiler *compiler, const struct job *job, const char *text, struct err *err) {
	mem_auto char *defined = t1_source(job->config.defines, text);
	const char *options[SOURCE_OPTIONS_MAX + 2];
	const struct gpu_text source = {source_name(&job->problem), defined,
	                                options_of(&job->problem, &job->config, options)};
	struct gpu_ahead ahead;
	struct err why = {.code = ERR_OK};
	bool fine = gpu_compile_ahead(compiler, &source, (int)job->arch, &ahead, &why);
	return compile_answer(fine, &ahead, &why, err);
}

json_t *source_compile_answer(struct gpu_compiler **compiler, const json_t *request, struct err *err) {
	struct arena *arena = arena_new();
	struct job *job = arena_alloc(arena, 1, sizeof *job);
	json_t *answer = NULL;
	mem_auto char *text =
		job_read(arena, request, job, err) ? NULL : sys_read_file(job->problem.file, FILE_LARGEST, NULL, err);
	if (text && !*compiler)
		*compiler = gpu_compiler_new(err);
	if (text && *compiler)
		answer = job_run(*compiler, job, text, err);
	arena_free(arena);
	return answer;
}

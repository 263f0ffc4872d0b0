/* SPDX-License-Identifier: BSD-3-Clause */
/* OpenCL devices as struct gpu: opening, and modules through the cache on disk. gpu/opencl does the rest. */
#include <limits.h>
#include <math.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "gpu/backend.h"
#include "gpu/opencl/opencl_impl.h"

/* Builds programs from source or from a binary. */

static const size_t LOG_LARGEST = 16 << 20, BINARY_LARGEST = 32 << 20;

static char *log_read(struct opencl *ocl, opencl_program program) {
	const struct opencl_calls *calls = ocl->calls;
	size_t size = 0;
	if (calls->build_info(program, ocl->device, OPENCL_BUILD_LOG, 0, NULL, &size) != OPENCL_SUCCESS ||
	    size > LOG_LARGEST)
		size = 0;
	char *log = mem_alloc(size + 1, 1);
	if (size && calls->build_info(program, ocl->device, OPENCL_BUILD_LOG, size, log, NULL) != OPENCL_SUCCESS)
		log[0] = '\0';
	log[size] = '\0';
	return log;
}

/* The first line with "error:" in it, as Clang's compilers, and so most of OpenCL's, write it; then with "error". */
static const char *error_line(const char *log) {
	const char *found = strstr(log, "error:");
	found = found ? found : strstr(log, "error");
	while (found && found > log && found[-1] != '\n')
		found--;
	return found;
}

static void build_failed(struct opencl *ocl, opencl_program program, const char *name, int32_t result) {
	char text[32], *log = log_read(ocl, program);
	const char *line = error_line(log);
	if (line)
		gpu_fail(ocl->gpu, GPU_COMPILE, "%.*s", (int)strcspn(line, "\n"), line);
	else
		gpu_fail(ocl->gpu, GPU_COMPILE, "%s does not compile: %s", name, opencl_result_text(result, text, sizeof text));
	free(log);
}

static enum gpu_failure failure_of(int32_t result) {
	switch (result) {
	case OPENCL_ALLOCATION_FAILURE:
	case OPENCL_OUT_OF_HOST_MEMORY:
	case OPENCL_INVALID_BUFFER_SIZE:
		return GPU_NO_MEMORY;
	case OPENCL_BUILD_FAILURE:
	case OPENCL_COMPILE_FAILURE:
	case OPENCL_LINK_FAILURE:
	case OPENCL_INVALID_BUILD_OPTIONS:
	case OPENCL_INVALID_PROGRAM_EXECUTABLE:
	case OPENCL_INVALID_KERNEL_NAME:
	case OPENCL_INVALID_KERNEL_DEFINITION:
	case OPENCL_INVALID_ARG_INDEX:
	case OPENCL_INVALID_ARG_VALUE:
	case OPENCL_INVALID_ARG_SIZE:
		return GPU_COMPILE;
	case OPENCL_DEVICE_NOT_AVAILABLE:
	case OPENCL_EXEC_ERROR:
		return GPU_BROKEN;
	default:
		return GPU_REFUSED;
	}
}

/* True on success; otherwise the gpu keeps the failure. */
static bool opencl_succeeded(struct opencl *ocl, const char *call, int32_t result) {
	char text[32];
	if (result != OPENCL_SUCCESS)
		gpu_fail(ocl->gpu, failure_of(result), "%s: %s", call, opencl_result_text(result, text, sizeof text));
	return result == OPENCL_SUCCESS;
}

static bool opencl_ended(struct opencl *ocl, const char *call, int32_t result) {
	char text[32];
	if (result != OPENCL_SUCCESS)
		gpu_fail(ocl->gpu, GPU_BROKEN, "%s: %s", call, opencl_result_text(result, text, sizeof text));
	return result == OPENCL_SUCCESS;
}

/* NULL after a failure: GPU_COMPILE with the compiler's first error. */
static opencl_program opencl_build(struct opencl *ocl, const char *name, const char *text, const char *options) {
	int32_t result = OPENCL_SUCCESS;
	opencl_program program = ocl->calls->program_source(ocl->context, 1, &text, NULL, &result);
	if (!opencl_succeeded(ocl, "clCreateProgramWithSource", result))
		return NULL;
	result = ocl->calls->program_build(program, 1, &ocl->device, options, NULL, NULL);
	if (result == OPENCL_SUCCESS)
		return program;
	build_failed(ocl, program, name, result);
	ocl->calls->program_release(program);
	return NULL;
}

/* NULL, without a failure, if the binary does not load: it may be meant for an earlier driver. */
static opencl_program opencl_load(struct opencl *ocl, const char *binary, size_t size, const char *options) {
	const unsigned char *bytes = (const unsigned char *)binary;
	int32_t status = OPENCL_SUCCESS, result = OPENCL_SUCCESS;
	opencl_program program = ocl->calls->program_binary(ocl->context, 1, &ocl->device, &size, &bytes, &status, &result);
	if (!program || result != OPENCL_SUCCESS)
		return NULL;
	if (status == OPENCL_SUCCESS &&
	    ocl->calls->program_build(program, 1, &ocl->device, options, NULL, NULL) == OPENCL_SUCCESS)
		return program;
	ocl->calls->program_release(program);
	return NULL;
}

/* The binary to keep, for free(3); NULL if there is none. */
static char *opencl_binary(struct opencl *ocl, opencl_program program, size_t *size) {
	*size = 0;
	if (ocl->calls->program_info(program, OPENCL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) != OPENCL_SUCCESS ||
	    *size == 0 || *size > BINARY_LARGEST)
		return NULL;
	char *binary = mem_alloc(*size, 1);
	unsigned char *to = (unsigned char *)binary;
	if (ocl->calls->program_info(program, OPENCL_PROGRAM_BINARIES, sizeof to, &to, NULL) == OPENCL_SUCCESS)
		return binary;
	free(binary);
	return NULL;
}

/* The buffer at an address, and the offset in it; NULL with a failure if there is none. */
static const struct opencl_buffer *opencl_buffer_at(struct opencl *ocl, uint64_t memory, size_t *offset) {
	for (size_t i = 0; i < ocl->count; i++) {
		const struct opencl_buffer *buffer = &ocl->buffers[i];
		*offset = (size_t)(memory - buffer->at);
		if (memory >= buffer->at && *offset < buffer->size)
			return buffer;
	}
	gpu_fail(ocl->gpu, GPU_REFUSED, "an address belongs to no OpenCL buffer");
	return NULL;
}

static void opencl_upload(struct opencl *ocl, uint64_t to, const void *from, size_t size) {
	size_t offset;
	const struct opencl_buffer *buffer = opencl_buffer_at(ocl, to, &offset);
	if (buffer)
		opencl_succeeded(ocl, "clEnqueueWriteBuffer",
		                 ocl->calls->write(ocl->queue, buffer->handle, true, offset, size, from, 0, NULL, NULL));
}

/* It waits for the kernels before it, so a failure may be theirs. */
static void opencl_download(struct opencl *ocl, void *to, uint64_t from, size_t size) {
	size_t offset;
	const struct opencl_buffer *buffer = opencl_buffer_at(ocl, from, &offset);
	if (buffer)
		opencl_ended(ocl, "clEnqueueReadBuffer",
		             ocl->calls->read(ocl->queue, buffer->handle, true, offset, size, to, 0, NULL, NULL));
}

static void opencl_copy(struct opencl *ocl, uint64_t to, uint64_t from, size_t size) {
	size_t to_offset, from_offset;
	const struct opencl_buffer *a = opencl_buffer_at(ocl, from, &from_offset);
	const struct opencl_buffer *b = opencl_buffer_at(ocl, to, &to_offset);
	if (a && b)
		opencl_succeeded(
			ocl, "clEnqueueCopyBuffer",
			ocl->calls->copy(ocl->queue, a->handle, b->handle, from_offset, to_offset, size, 0, NULL, NULL));
}

static void opencl_fill(struct opencl *ocl, uint64_t to, uint32_t value, size_t bytes_each, size_t count) {
	size_t offset;
	const struct opencl_buffer *buffer = opencl_buffer_at(ocl, to, &offset);
	if (buffer)
		opencl_succeeded(ocl, "clEnqueueFillBuffer",
		                 ocl->calls->fill(ocl->queue, buffer->handle, &value, bytes_each, offset, count * bytes_each, 0,
		                                  NULL, NULL));
}

static int clamp(uint64_t value) {
	return value > INT_MAX ? INT_MAX : (int)value;
}

static void facts_read(struct opencl *ocl, opencl_kernel kernel, struct gpu_function_facts *facts) {
	uint64_t local = 0, private = 0;
	size_t most = 0;
	const struct opencl_calls *calls = ocl->calls;
	calls->kernel_group_info(kernel, ocl->device, OPENCL_KERNEL_LOCAL, sizeof local, &local, NULL);
	calls->kernel_group_info(kernel, ocl->device, OPENCL_KERNEL_PRIVATE, sizeof private, &private, NULL);
	calls->kernel_group_info(kernel, ocl->device, OPENCL_KERNEL_GROUP_SIZE, sizeof most, &most, NULL);
	*facts = (struct gpu_function_facts){.shared_bytes = clamp(local),
	                                     .local_bytes = clamp(private),
	                                     .threads_max = most ? clamp(most) : clamp(ocl->group_size)};
}

static opencl_kernel opencl_function(struct opencl *ocl, opencl_program program, const char *name, int *parameters,
                                     struct gpu_function_facts *facts) {
	int32_t result = OPENCL_SUCCESS;
	uint32_t count = 0;
	opencl_kernel kernel = ocl->calls->kernel_create(program, name, &result);
	if (result == OPENCL_INVALID_KERNEL_NAME)
		gpu_fail(ocl->gpu, GPU_COMPILE, "the source does not define a __kernel %s", name);
	else
		opencl_succeeded(ocl, "clCreateKernel", result);
	if (result != OPENCL_SUCCESS)
		return NULL;
	bool counted = ocl->calls->kernel_info(kernel, OPENCL_KERNEL_ARGS, sizeof count, &count, NULL) == OPENCL_SUCCESS;
	*parameters = counted ? clamp(count) : -1;
	facts_read(ocl, kernel, facts);
	return kernel;
}

/* The limits in our own words; drivers only say CL_INVALID_WORK_GROUP_SIZE. */
static bool fits(struct opencl *ocl, opencl_kernel kernel, const char *name, const struct gpu_shape *shape) {
	struct gpu_function_facts facts;
	uint64_t items = (uint64_t)shape->block[0] * shape->block[1];
	items = items > UINT32_MAX ? items : items * shape->block[2];
	facts_read(ocl, kernel, &facts);
	for (int i = 0; i < 3; i++)
		if (shape->block[i] > ocl->item_sizes[i]) {
			gpu_fail(ocl->gpu, GPU_REFUSED, "%s: a work group has at most %zu work items in dimension %d, not %u", name,
			         ocl->item_sizes[i], i, shape->block[i]);
			return false;
		}
	if (items > (uint64_t)facts.threads_max)
		gpu_fail(ocl->gpu, GPU_REFUSED, "%s: a work group has at most %d work items, not %ju", name, facts.threads_max,
		         (uintmax_t)items);
	else if ((uint64_t)facts.shared_bytes + shape->shared > ocl->local_bytes)
		gpu_fail(ocl->gpu, GPU_REFUSED, "%s: a work group has at most %zu bytes of local memory, not %ju", name,
		         ocl->local_bytes, (uintmax_t)facts.shared_bytes + shape->shared);
	else
		return true;
	return false;
}

static bool argument_set(struct opencl *ocl, opencl_kernel kernel, size_t i, const struct gpu_passed *kind,
                         const void *value) {
	size_t offset = 0;
	const struct opencl_buffer *buffer =
		kind->what == GPU_PASSED_MEMORY ? opencl_buffer_at(ocl, *(const gpu_ptr *)value, &offset) : NULL;
	if (kind->what == GPU_PASSED_MEMORY && !buffer)
		return false;
	const void *from = buffer ? (const void *)&buffer->handle : kind->what == GPU_PASSED_LOCAL ? NULL : value;
	int32_t result =
		ocl->calls->kernel_argument(kernel, (uint32_t)i, buffer ? sizeof buffer->handle : kind->bytes, from);
	if (result == OPENCL_INVALID_ARG_SIZE && kind->what == GPU_PASSED_VALUE)
		gpu_fail(ocl->gpu, GPU_COMPILE, "parameter %zu does not have %zu bytes like its argument", i + 1, kind->bytes);
	else if (result != OPENCL_SUCCESS && kind->what == GPU_PASSED_MEMORY)
		gpu_fail(ocl->gpu, GPU_COMPILE, "parameter %zu is not a __global or __constant pointer like its argument",
		         i + 1);
	return opencl_succeeded(ocl, "clSetKernelArg", result);
}

static void event_keep(struct opencl *ocl, opencl_event event) {
	if (!ocl->first) {
		ocl->first = event;
		return;
	}
	if (ocl->last)
		ocl->calls->event_release(ocl->last);
	ocl->last = event;
}

/* Arguments as gpu_launch has them; kinds says what they are. */
static void opencl_launch(struct opencl *ocl, opencl_kernel kernel, const char *name, const struct gpu_shape *shape,
                          const struct gpu_passed *kinds, size_t count, void *const *arguments) {
	size_t global[3], local[3];
	opencl_event event = NULL;
	for (int i = 0; i < 3; i++) {
		local[i] = shape->block[i];
		global[i] = (size_t)shape->grid[i] * shape->block[i];
	}
	if (!fits(ocl, kernel, name, shape))
		return;
	for (size_t i = 0; i < count; i++)
		if (!argument_set(ocl, kernel, i, &kinds[i], arguments[i]))
			return;
	int32_t result =
		ocl->calls->launch(ocl->queue, kernel, 3, NULL, global, local, 0, NULL, ocl->timing ? &event : NULL);
	if (opencl_succeeded(ocl, "clEnqueueNDRangeKernel", result) && event)
		event_keep(ocl, event);
}

static bool opencl_sync(struct opencl *ocl) {
	return opencl_ended(ocl, "clFinish", ocl->calls->finish(ocl->queue));
}

static void opencl_clock_start(struct opencl *ocl) {
	opencl_events_drop(ocl);
	ocl->timing = opencl_sync(ocl);
}

/* from the first launch's start to the last one's end */
static double opencl_clock_stop(struct opencl *ocl) {
	uint64_t from = 0, to = 0;
	bool started = ocl->timing;
	ocl->timing = false;
	if (!started || !opencl_sync(ocl))
		return NAN;
	if (!ocl->first)
		return 0;
	opencl_event last = ocl->last ? ocl->last : ocl->first;
	bool fine = opencl_succeeded(ocl, "clGetEventProfilingInfo",
	                             ocl->calls->event_time(ocl->first, OPENCL_EVENT_START, sizeof from, &from, NULL)) &&
	            opencl_succeeded(ocl, "clGetEventProfilingInfo",
	                             ocl->calls->event_time(last, OPENCL_EVENT_END, sizeof to, &to, NULL));
	opencl_events_drop(ocl);
	return fine && to >= from ? 1e-9 * (double)(to - from) : NAN;
}

/* A link without blanks to a folder that has some in its path; the caller frees it. NULL: it cannot be made. */
static char *folder_link(const char *folder) {
	char *cache = sys_cache_dir(NULL), *link = NULL, target[PATH_MAX];
	if (cache && !strpbrk(cache, " \t\"") && sys_make_dirs(cache, NULL) == 0) {
		link = mem_printf("%s/include-%016llx", cache, (unsigned long long)hash_text(folder));
		ssize_t length = readlink(link, target, sizeof target - 1);
		target[length > 0 ? length : 0] = '\0';
		if (strcmp(target, folder) != 0 && ((length >= 0 && unlink(link) != 0) || symlink(folder, link) != 0)) {
			free(link);
			link = NULL;
		}
	}
	free(cache);
	return link;
}

/* OpenCL takes one string, which compilers split at blanks, so an option cannot contain one. */
static char *option_plain(const char *option) {
	if (!strpbrk(option, " \t\""))
		return mem_strdup(option);
	mem_auto char *link = strncmp(option, "-I", 2) == 0 ? folder_link(option + 2) : NULL;
	return link ? mem_printf("-I%s", link) : NULL;
}

static char *options_join(struct gpu *gpu, const char *name, const char *const *options) {
	char *all = mem_strdup("");
	for (size_t i = 0; options && options[i]; i++) {
		char *option = option_plain(options[i]);
		char *longer = option ? mem_printf("%s%s%s", all, i ? " " : "", option) : NULL;
		free(option);
		if (!longer) {
			gpu_fail(gpu, GPU_COMPILE, "%s: the option %s contains a blank", name, options[i]);
			free(all);
			return NULL;
		}
		free(all);
		all = longer;
	}
	return all;
}

static void key_make(const struct gpu *gpu, const char *name, const char *text, const char *options, const char *seen,
                     char key[CACHE_KEY]) {
	const char *const parts[] = {"1", gpu->opencl->identity, options, name, text, seen};
	struct sha256 sha;
	sha256_start(&sha);
	for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
		sha256_add(&sha, parts[i], strlen(parts[i]) + 1);
	sha256_end(&sha, key);
}

static opencl_program from_disk(struct gpu *gpu, const char *folder, const char *key, const char *options) {
	struct code code = {.image = NULL};
	if (!cache_load(folder, key, &code))
		return NULL;
	opencl_program program = opencl_load(gpu->opencl, code.image, code.size, options);
	if (program)
		gpu->compiler.from_disk++;
	else
		cache_remove(folder, key);
	code_free(&code);
	return program;
}

static void to_disk(struct gpu *gpu, const char *folder, const char *key, opencl_program program) {
	struct code code = {.image = NULL};
	code.image = opencl_binary(gpu->opencl, program, &code.size);
	if (!code.image)
		return;
	cache_store(folder, key, &code);
	if (gpu->compiler.stored++ % 64 == 0)
		cache_trim(folder, CACHE_BYTES);
	code_free(&code);
}

static opencl_program program_make(struct gpu *gpu, const char *name, const char *text, const char *options,
                                   const char *key, bool unseen) {
	struct compiler *compiler = &gpu->compiler;
	double start = sys_now();
	if (!compiler->tried)
		compiler->folder = cache_folder();
	compiler->tried = true;
	const char *folder = unseen ? NULL : compiler->folder;
	opencl_program program = folder ? from_disk(gpu, folder, key, options) : NULL;
	if (program)
		return program;
	program = opencl_build(gpu->opencl, name, text, options);
	compiler->compiled++;
	compiler->seconds += sys_now() - start;
	if (program && folder)
		to_disk(gpu, folder, key, program);
	return program;
}

static const struct gpu_module *module_make(struct gpu *gpu, const char *name, const char *text,
                                            const char *const *options) {
	char key[CACHE_KEY], seen[SHA256_TEXT], *joined = options_join(gpu, name, options);
	bool unseen = !includes_digest(text, options, seen);
	if (!joined)
		return NULL;
	key_make(gpu, name, text, joined, seen, key);
	const struct gpu_module *found = unseen ? NULL : gpu->modules;
	while (found && strcmp(found->id, key) != 0)
		found = found->next;
	opencl_program program = found ? NULL : program_make(gpu, name, text, joined, key, unseen);
	free(joined);
	if (!program)
		return found;
	struct gpu_module *module = mem_alloc(1, sizeof *module);
	*module = (struct gpu_module){.id = mem_strdup(key), .program = program, .next = gpu->modules};
	return gpu->modules = module;
}

static struct gpu_function *function_make(struct gpu *gpu, struct gpu_module *module, const char *name) {
	struct gpu_function_facts facts;
	int parameters;
	opencl_kernel kernel = opencl_function(gpu->opencl, module->program, name, &parameters, &facts);
	if (!kernel)
		return NULL;
	struct gpu_function *function = mem_alloc(1, sizeof *function);
	*function =
		(struct gpu_function){.facts = facts, .kernel = kernel, .parameters = parameters, .next = module->functions};
	snprintf(function->name, sizeof function->name, "%s", name);
	return module->functions = function;
}

static void launch(struct gpu *gpu, const struct gpu_function *function, const struct gpu_shape *shape,
                   void *const *arguments) {
	opencl_launch(gpu->opencl, function->kernel, function->name, shape, function->passed, function->passed_count,
	              arguments);
}

static const uint64_t GRAIN = 4096;

/* An address is a place in our own numbering, because OpenCL has buffers and not addresses. */
static uint64_t opencl_alloc(struct opencl *ocl, size_t size) {
	int32_t result = OPENCL_SUCCESS;
	if (ocl->count == OPENCL_BUFFERS_MAX) {
		gpu_fail(ocl->gpu, GPU_NO_MEMORY, "more than %d OpenCL buffers", OPENCL_BUFFERS_MAX);
		return 0;
	}
	opencl_memory handle = ocl->calls->memory_create(ocl->context, OPENCL_MEMORY_READ_WRITE, size, NULL, &result);
	if (!opencl_succeeded(ocl, "clCreateBuffer", result))
		return 0;
	uint64_t at = ocl->next;
	ocl->buffers[ocl->count++] = (struct opencl_buffer){handle, at, size};
	ocl->next += (size / GRAIN + 2) * GRAIN; /* a gap, so that no address past the end is another buffer's */
	return at;
}

static void opencl_free(struct opencl *ocl, uint64_t memory) {
	size_t i = 0;
	while (i < ocl->count && ocl->buffers[i].at != memory)
		i++;
	if (i == ocl->count)
		return;
	ocl->calls->memory_release(ocl->buffers[i].handle); /* commands that use it keep it */
	ocl->buffers[i] = ocl->buffers[--ocl->count];
}

static const struct gpu_backend backend = {.alloc = opencl_alloc,
                                           .free = opencl_free,
                                           .upload = opencl_upload,
                                           .download = opencl_download,
                                           .copy = opencl_copy,
                                           .fill = opencl_fill,
                                           .sync = opencl_sync,
                                           .clock_start = opencl_clock_start,
                                           .clock_stop = opencl_clock_stop,
                                           .module = module_make,
                                           .function = function_make,
                                           .launch = launch,
                                           .close = opencl_device_close};

struct gpu *gpu_opencl_open(int index, struct err *err) {
	struct gpu *gpu = mem_alloc(1, sizeof *gpu);
	char word[16];
	snprintf(word, sizeof word, "%d", index);
	gpu->root = gpu;
	gpu->nvml_tried = true; /* NVML knows NVIDIA's devices, by CUDA's names */
	gpu->use = &gpu->own;
	gpu->backend = &backend;
	gpu->driver.api = &driver_cuda; /* names what it lacks */
	gpu->opencl = opencl_open(gpu, word, &gpu->facts, err);
	if (gpu->opencl)
		return gpu;
	free(gpu);
	return NULL;
}

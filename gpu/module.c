/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes each module and function once and keeps it. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu/impl.h"
#include "src/base/mem.h"
#include "src/base/sha256.h"

static int arch_of(const struct gpu *gpu) {
	return 10 * gpu->facts.major + gpu->facts.minor;
}

/* hash: of the text, "" for our own sources, which do not change while we run. */
static char *id_of(const struct source *source, const char *hash) {
	struct options options;
	if (options_make(&options, source, "") < 0)
		return NULL;
	char *id = mem_printf("%s\n%s\n%s", source->name, hash, source->seen ? source->seen : "");
	for (int i = 0; i < options.count; i++) {
		char *longer = mem_printf("%s\n%s", id, options.words[i]);
		free(id);
		id = longer;
	}
	return id;
}

static const struct gpu_module *module_find(const struct gpu *gpu, const char *id) {
	for (const struct gpu_module *module = gpu->modules; module; module = module->next)
		if (strcmp(module->id, id) == 0)
			return module;
	return NULL;
}

static driver_result load(struct gpu *gpu, const struct code *code, driver_module *handle) {
	return gpu->driver.module_load ? gpu->driver.module_load(handle, code->image, 0, NULL, NULL) : DRIVER_NOT_FOUND;
}

/* Code from disk may be meant for an earlier driver, so it is compiled again if it does not load. */
static bool code_load(struct gpu *gpu, const struct source *source, struct code *code, driver_module *handle) {
	enum gpu_failure failure;
	struct err err = {.code = ERR_OK};
	driver_result result = DRIVER_SUCCESS;
	for (int fresh = 0; fresh < 2; fresh++) {
		size_t from_disk = gpu->compiler.from_disk;
		if (!compile_source(&gpu->compiler, source, fresh, code, &failure, &err)) {
			gpu_fail(gpu, failure, "%s", err.what);
			return false;
		}
		result = load(gpu, code, handle);
		if (result == DRIVER_SUCCESS)
			return true;
		code_free(code);
		if (gpu->compiler.from_disk == from_disk || gpu_failure_of(result) != GPU_REFUSED)
			break;
	}
	return gpu_succeeded(gpu, "module_load", result);
}

/* Takes ownership of the id. */
static const struct gpu_module *module_make(struct gpu *gpu, const struct source *source, char *id) {
	struct code code;
	driver_module handle;
	if (!code_load(gpu, source, &code, &handle)) {
		free(id);
		return NULL;
	}
	struct gpu_module *module = mem_alloc(1, sizeof *module);
	*module = (struct gpu_module){
		.id = id, .handle = handle, .compiled = code.functions, .compiled_count = code.count, .next = gpu->modules};
	code.functions = NULL;
	code_free(&code);
	return gpu->modules = module;
}

static const struct gpu_module *too_many(struct gpu *gpu, const char *name) {
	gpu_fail(gpu, GPU_REFUSED, "%s: too many or too long options", name);
	return NULL;
}

const struct gpu_module *gpu_module(struct gpu *gpu, const char *source, const struct gpu_defines *defines) {
	struct source what = {.name = source, .defines = defines, .arch = arch_of(gpu)};
	struct err err;
	if (!gpu_enter(gpu))
		return NULL;
	char *id = id_of(&what, "");
	if (!id)
		return too_many(gpu, source);
	const struct gpu_module *module = module_find(gpu, id);
	char *text = module ? NULL : source_read(source, &err);
	if (!module && !text)
		gpu_fail(gpu, GPU_COMPILE, "%s", err.what);
	what.text = text;
	if (text)
		module = module_make(gpu, &what, id);
	else
		free(id);
	free(text);
	return module;
}

static bool includes_angled(const char *text) {
	struct include include;
	while (include_next(&text, &include))
		if (!include.quoted)
			return true;
	return false;
}

/* Sets the include option for CUDA's headers, such as cuda_fp16.h; "" if they are not found. */
static void cuda_headers(char *option, size_t size) {
	const char *roots[] = {getenv("CUDA_HOME"), getenv("CUDA_PATH"), "/usr/local/cuda"};
	char file[512];
	option[0] = '\0';
	for (size_t i = 0; i < sizeof roots / sizeof *roots && !option[0]; i++)
		if (roots[i] && roots[i][0] == '/' &&
		    snprintf(file, sizeof file, "%s/include/cuda_fp16.h", roots[i]) < (int)sizeof file &&
		    access(file, R_OK) == 0)
			snprintf(option, size, "--include-path=%s/include", roots[i]);
}

bool text_source_make(struct text_source *made, const struct gpu_text *text, const struct gpu_defines *defines,
                      int arch, const char *device) {
	size_t count = 0;
	*made = (struct text_source){.words = {NULL}};
	for (; text->options && text->options[count] && count < COMPILE_OPTIONS_MAX - 1; count++)
		made->words[count] = text->options[count];
	if (!device)
		cuda_headers(made->headers, sizeof made->headers);
	if (made->headers[0] && includes_angled(text->text))
		made->words[count] = made->headers;
	made->source = (struct source){.name = text->name,
	                               .text = text->text,
	                               .options = made->words,
	                               .defines = defines,
	                               .arch = arch,
	                               .device = device,
	                               .users = true,
	                               .seen = made->seen,
	                               .unseen = !includes_digest(text->text, text->options, made->seen)};
	return !text->options || !text->options[count];
}

const struct gpu_module *gpu_module_text(struct gpu *gpu, const char *name, const char *text,
                                         const char *const *options, const struct gpu_defines *defines) {
	char hash[SHA256_TEXT];
	struct text_source made;
	if (gpu->backend)
		return gpu_enter(gpu) ? gpu->backend->module(gpu, name, text, options) : NULL;
	const char *device = gpu->facts.kind == GPU_HIP ? gpu->facts.name : NULL;
	bool fits = text_source_make(&made, &(struct gpu_text){name, text, options}, defines, arch_of(gpu), device);
	if (!gpu_enter(gpu))
		return NULL;
	sha256_text(text, strlen(text), hash);
	char *id = fits ? id_of(&made.source, hash) : NULL;
	if (!id)
		return too_many(gpu, name);
	const struct gpu_module *module = made.source.unseen ? NULL : module_find(gpu, id);
	if (!module)
		return module_make(gpu, &made.source, id);
	free(id);
	return module;
}

double gpu_compile_seconds(const struct gpu *gpu) {
	return gpu->compiler.seconds;
}

size_t gpu_compile_count(const struct gpu *gpu, bool from_disk) {
	return from_disk ? gpu->compiler.from_disk : gpu->compiler.compiled;
}

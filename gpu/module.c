/* SPDX-License-Identifier: BSD-3-Clause */
/* Makes each module and function once and keeps it. */
#include <unistd.h>

#include "gpu/backend.h"
#include "base/mem.h"
#include "base/sys.h"

/* Our .cu files are data: they are in share/sweetspot/kernels of an installation, or in kernels/ beside data/ in the
 * tree that was built. */

enum { SOURCE_BYTES = 1 << 20 };

/* Names come from kernels' tables, which plug-ins may provide, so they are checked. */
static bool is_safe(const char *name) {
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
	return name && name[0] && name[0] != '/' && name[strspn(name, fine)] == '\0' && !strstr(name, "..");
}

/* The build tree comes first, because an installed copy may be another version. */
static char *folder_find(struct err *err) {
	static const char *const names[] = {"../kernels", "kernels"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		char *folder = sys_share_dir(names[i], err);
		mem_auto char *file = folder ? mem_printf("%s/sweetspot.cuh", folder) : NULL;
		bool found = file && access(file, R_OK) == 0;
		if (found)
			return folder;
		free(folder);
	}
	err_set(err, ERR_FAILED, "install it again, or name the folder share/sweetspot in SWEETSPOT_DATA",
	        "the kernels' GPU sources are missing");
	return NULL;
}

char *source_read(const char *name, struct err *err) {
	if (!is_safe(name)) {
		err_set(err, ERR_USAGE, NULL, "a kernel's source has an unsafe name");
		return NULL;
	}
	mem_auto char *folder = folder_find(err);
	if (!folder)
		return NULL;
	mem_auto char *path = mem_printf("%s/%s", folder, name);
	return sys_read_file(path, SOURCE_BYTES, NULL, err);
}

/* Turns a configuration into -DNAME=VALUE and the other options of the compiler. */

/* A count beyond the limit makes options_make refuse it. */
void gpu_define_word(struct gpu_defines *defines, const char *name, const char *value) {
	if (defines->count < GPU_DEFINES_MAX &&
	    snprintf(defines->text[defines->count], GPU_DEFINE, "%s=%s", name, value) < GPU_DEFINE)
		defines->count++;
	else
		defines->count = GPU_DEFINES_MAX + 1;
}

void gpu_define(struct gpu_defines *defines, const char *name, long long value) {
	char text[24];
	snprintf(text, sizeof text, "%lld", value);
	gpu_define_word(defines, name, text);
}

static int by_text(const void *a, const void *b) {
	return strcmp(a, b);
}

static bool says(const char *const *words, const char *prefix) {
	for (; words && *words; words++)
		if (strncmp(*words, prefix, strlen(prefix)) == 0)
			return true;
	return false;
}

int options_make(struct options *options, const struct source *source, const char *arch) {
	size_t defines = source->defines ? source->defines->count : 0, more = 0;
	while (source->options && source->options[more])
		more++;
	options->count = 0;
	if (defines > GPU_DEFINES_MAX || more > COMPILE_OPTIONS_MAX - OPTIONS_OWN - defines)
		return -1;
	if (arch) {
		snprintf(options->arch, sizeof options->arch, "--gpu-architecture=%s", arch);
		options->words[options->count++] = options->arch;
		options->words[options->count++] = "--ptxas-options=-v";
	}
	if (!says(source->options, "--std=") && !says(source->options, "-std="))
		options->words[options->count++] = "--std=c++17";
	for (size_t i = 0; i < defines; i++)
		snprintf(options->defines[i], sizeof options->defines[i], "-D%s", source->defines->text[i]);
	qsort(options->defines, defines, sizeof *options->defines, by_text);
	for (size_t i = 0; i < defines; i++)
		options->words[options->count++] = options->defines[i];
	for (size_t i = 0; i < more; i++)
		options->words[options->count++] = source->options[i];
	return options->count;
}

static int arch_of(const struct gpu *gpu) {
	return 10 * gpu->facts.major + gpu->facts.minor;
}

/* hash: of the text, "" for our own sources, which do not change while we run. */
static char *id_of(const struct source *source, const char *hash) {
	struct options options;
	if (options_make(&options, source, "") < 0)
		return NULL;
	char *id = mem_printf("%s\n%s\n%s\n%d", source->name, hash, source->seen ? source->seen : "", (int)source->by);
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

static bool has_lines(const struct source *source) {
	bool found = false;
	for (const char *const *option = source->options; option && *option; option++)
		found = found || strcmp(*option, "-lineinfo") == 0;
	return found;
}

const void *gpu_lines_code(const struct gpu *gpu, size_t i, size_t *size) {
	const struct gpu_module *module = gpu->modules;
	while (module && (!module->image || i-- > 0))
		module = module->next;
	*size = module ? module->image_size : 0;
	return module ? module->image : NULL;
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
	if (has_lines(source)) {
		module->image = code.image;
		module->image_size = code.size;
		code.image = NULL;
	}
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
	mem_auto char *text = module ? NULL : source_read(source, &err);
	if (!module && !text)
		gpu_fail(gpu, GPU_COMPILE, "%s", err.what);
	what.text = text;
	if (text)
		module = module_make(gpu, &what, id);
	else
		free(id);
	return module;
}

/* Sets the include options for the toolkit's headers, such as cuda_fp16.h, and CUB's and Thrust's, which CUDA 13 keeps
 * beside them; "" where they are not found. */
static void cuda_headers(char options[2][HEADERS_OPTION]) {
	static const char *const within[2][2] = {{"include", "cuda_fp16.h"}, {"include/cccl", "cub/version.cuh"}};
	for (int k = 0; k < 2; k++) {
		options[k][0] = '\0';
		for (size_t i = 0; i < CUDA_ROOTS && !options[k][0]; i++) {
			const char *root = cuda_root(i);
			mem_auto char *file =
				root && root[0] == '/' ? mem_printf("%s/%s/%s", root, within[k][0], within[k][1]) : NULL;
			if (file && access(file, R_OK) == 0)
				snprintf(options[k], HEADERS_OPTION, "--include-path=%s/%s", root, within[k][0]);
		}
	}
}

/* "--compiler=nvcc" is for us. */
static bool compiler_word(const char *word, enum compiled_by *by) {
	static const char start[] = "--compiler=";
	if (strncmp(word, start, strlen(start)) != 0)
		return false;
	*by = strcmp(word + strlen(start), "nvcc") == 0 ? BY_NVCC : BY_NVRTC;
	return true;
}

/* Device: HIP's, or NULL. Returns false if there are too many options. */
static bool text_source_make(struct text_source *made, const struct gpu_text *text, const struct gpu_defines *defines,
                             int arch, const char *device) {
	size_t read = 0, count = 0;
	enum compiled_by by = BY_EITHER;
	*made = (struct text_source){.words = {NULL}};
	for (; text->options && text->options[read] && count < COMPILE_OPTIONS_MAX - 2; read++)
		if (!compiler_word(text->options[read], &by))
			made->words[count++] = text->options[read];
	if (!device && include_next(&(const char *){text->text}, &(struct include){.name = NULL}))
		cuda_headers(made->headers);
	for (int k = 0; k < 2; k++)
		if (made->headers[k][0])
			made->words[count++] = made->headers[k];
	made->source = (struct source){.name = text->name,
	                               .text = text->text,
	                               .options = made->words,
	                               .defines = defines,
	                               .arch = arch,
	                               .device = device,
	                               .users = true,
	                               .by = by,
	                               .seen = made->seen,
	                               .unseen = !includes_digest(text->text, text->options, made->seen)};
	return !text->options || !text->options[read];
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

/* Compiles into the cache on disk, in a process that needs no context on a device. */

struct gpu_compiler {
	struct compiler compiler;
};

/* The compiler must be the one that the process with the device finds, which depends on the driver. */
struct gpu_compiler *gpu_compiler_new(struct err *err) {
	struct gpu_compiler *made = mem_alloc(1, sizeof *made);
	struct library_why why;
	if (!nvrtc_open(&made->compiler.nvrtc, driver_major(), &why)) {
		err_set(err, ERR_UNAVAILABLE, why.fix, "%s", why.reason);
		free(made);
		return NULL;
	}
	made->compiler.folder = cache_folder();
	made->compiler.tried = true;
	return made;
}

void gpu_compiler_free(struct gpu_compiler *made) {
	if (!made)
		return;
	nvrtc_close(&made->compiler.nvrtc);
	free(made->compiler.folder);
	free(made->compiler.nvcc);
	free(made);
}

static bool source_compile(struct compiler *compiler, const struct source *source, struct gpu_ahead *ahead,
                           struct err *err) {
	struct code code;
	enum gpu_failure failure;
	double before = compiler->seconds;
	size_t from_disk = compiler->from_disk;
	if (!compile_source(compiler, source, false, &code, &failure, err))
		return false;
	code_free(&code);
	*ahead = (struct gpu_ahead){
		.kept = true, .from_disk = compiler->from_disk > from_disk, .seconds = compiler->seconds - before};
	return true;
}

bool gpu_compile_ahead(struct gpu_compiler *made, const struct gpu_text *text, int arch, struct gpu_ahead *ahead,
                       struct err *err) {
	struct text_source source;
	*ahead = (struct gpu_ahead){.kept = false};
	if (!text_source_make(&source, text, NULL, arch, NULL) || source.source.unseen || !made->compiler.folder)
		return true;
	return source_compile(&made->compiler, &source.source, ahead, err);
}

bool gpu_compile_ours_ahead(struct gpu_compiler *made, const char *name, const struct gpu_defines *defines, int arch,
                            struct gpu_ahead *ahead, struct err *err) {
	*ahead = (struct gpu_ahead){.kept = false};
	if (!made->compiler.folder)
		return true;
	mem_auto char *text = source_read(name, err);
	const struct source source = {.name = name, .text = text, .defines = defines, .arch = arch};
	return text && source_compile(&made->compiler, &source, ahead, err);
}

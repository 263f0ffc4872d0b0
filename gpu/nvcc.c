/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles with nvcc what NVRTC can't: sources that include headers for the host's compiler, or the host's own code. */
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/proc/path.h"
#include "base/proc/proc.h"
#include "base/scratch.h"
#include "base/sys.h"
#include "gpu/gpu_impl.h"

enum { NVCC_SECONDS = 300, NVCC_LOG = 1 << 20, CUBIN_MAX = 64 << 20, VERSION_TEXT = 400 };

static char *nvcc_in(const char *root) {
	char *path = root && root[0] == '/' ? mem_printf("%s/bin/nvcc", root) : NULL;
	if (path && access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

/* The toolkit that the user names comes first, then PATH. */
static char *nvcc_find(void) {
	struct err err;
	char *path = NULL;
	for (size_t i = 0; i < CUDA_ROOTS - 1 && !path; i++)
		path = nvcc_in(cuda_root(i));
	if (!path)
		path = program_path("nvcc", NULL, &err);
	return path ? path : nvcc_in(cuda_root(CUDA_ROOTS - 1));
}

const char *nvcc_path(struct compiler *compiler) {
	if (!compiler->nvcc_tried)
		compiler->nvcc = compiler->nvrtc.is_hip ? NULL : nvcc_find();
	compiler->nvcc_tried = true;
	return compiler->nvcc;
}

/* A toolkit of the same path may be another one after an update. */
void nvcc_key(struct sha256 *sha, const char *path) {
	struct stat file = {.st_size = 0};
	char text[VERSION_TEXT];
	stat(path, &file);
	int used =
		snprintf(text, sizeof text, "1 nvcc %s %lld %lld", path, (long long)file.st_size, (long long)file.st_mtime);
	sha256_add(sha, text, (size_t)used < sizeof text ? (size_t)used + 1 : sizeof text);
}

static bool is_nvrtc_alone(const char *option) {
	static const char *const all[] = {"--no-cache", "-default-device", "--device-as-default-execution-space"};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (strcmp(option, all[i]) == 0)
			return true;
	return false;
}

/* Nvcc runs its parts through a shell. */
static bool is_harmless(const char *option) {
	static const char fine[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./=+,:@%()";
	return option[strspn(option, fine)] == '\0' && (!strpbrk(option, "()") || strncmp(option, "-D", 2) == 0);
}

static bool words_make(const char **argv, const char *path, const struct options *options, struct err *err) {
	static const char *const own[] = {"-cubin", "-x", "cu", "-o", "out.cubin", "in.cu"};
	size_t count = 0;
	argv[count++] = path;
	for (int i = 0; i < options->count; i++) {
		if (!is_harmless(options->words[i]))
			return err_set(err, ERR_FAILED, NULL, "nvcc cannot be given the option %.100s", options->words[i]) == 0;
		if (!is_nvrtc_alone(options->words[i]))
			argv[count++] = options->words[i];
	}
	for (size_t i = 0; i < sizeof own / sizeof *own; i++)
		argv[count++] = own[i];
	argv[count] = NULL;
	return true;
}

/* The source has its name in messages. */
static bool files_write(const char *folder, const struct source *source, const struct headers *headers,
                        struct err *err) {
	mem_auto char *path = mem_printf("%s/in.cu", folder),
				  *text = mem_printf("#line 1 \"%s\"\n%s", source->name, source->text);
	bool fine = sys_write_file(path, text, strlen(text), err) == 0;
	for (int i = 0; i < headers->count && fine; i++) {
		mem_auto char *header = mem_printf("%s/%s", folder, headers->names[i]);
		fine = sys_write_file(header, headers->texts[i], strlen(headers->texts[i]), err) == 0;
	}
	return fine;
}

static bool nvcc_run(const char *const *argv, const char *folder, char **log, struct err *err) {
	mem_auto char *temporary = mem_printf("TMPDIR=%s", folder);
	const char *const set[] = {"LC_ALL=C", temporary, NULL};
	const struct proc_spec spec = {.argv = argv, .set = set, .cwd = folder, .stderr_keep = NVCC_LOG, .no_core = true};
	int status = proc_run(&spec, NVCC_SECONDS, log, err);
	if (status > 0)
		compile_error(*log, err);
	return status == 0;
}

bool nvcc_translate(const char *path, const struct source *source, const struct headers *headers,
                    const struct options *options, struct code *code, struct err *err) {
	const char *argv[COMPILE_OPTIONS_MAX + 16];
	struct scratch scratch;
	char *log = NULL;
	err_set(err, ERR_FAILED, NULL, "%s does not compile with nvcc", source->name);
	scratch_tidy(SCRATCH_NVCC);
	if (!words_make(argv, path, options, err) || scratch_open(&scratch, SCRATCH_NVCC, err) != 0)
		return false;
	mem_auto char *made = mem_printf("%s/out.cubin", scratch.path);
	if (files_write(scratch.path, source, headers, err) && nvcc_run(argv, scratch.path, &log, err))
		code->image = sys_read_file(made, CUBIN_MAX, &code->size, err);
	if (code->image) {
		code->functions = ptxas_read(log, &code->count);
		*err = (struct err){.code = ERR_OK};
	}
	free(log);
	scratch_close(&scratch);
	return code->image;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "gpu/backend.h"
#include "base/mem.h"
#include "base/proc/path.h"
#include "base/proc/proc.h"
#include "base/tree.h"
#include "base/sys.h"

/* Reads the facts that ptxas reports for each function: NVIDIA, CUDA Compiler Driver NVCC 13.0, "Printing Code
 * Generation Statistics". */

enum { PTXAS_FUNCTIONS = 4096 };

/* Returns the number before `words` in a line; 0 if the line does not contain them. */
static int before(const char *line, const char *words) {
	const char *at = strstr(line, words);
	if (!at)
		return 0;
	while (at > line && at[-1] == ' ')
		at--;
	while (at > line && at[-1] >= '0' && at[-1] <= '9')
		at--;
	long value = strtol(at, NULL, 10);
	return value < 0 || value > 1 << 30 ? 0 : (int)value;
}

static bool name_read(const char *line, char *name, size_t size) {
	static const char words[] = "Compiling entry function '";
	const char *at = strstr(line, words);
	if (!at)
		return false;
	at += sizeof words - 1;
	snprintf(name, size, "%.*s", (int)strcspn(at, "'"), at);
	return true;
}

/* A function that is not inlined has its own lines, after those of the kernel that calls it. */
static void line_read(const char *line, struct gpu_function_facts *facts) {
	facts->spill_bytes += before(line, "bytes spill stores") + before(line, "bytes spill loads");
	int stack = before(line, "bytes stack frame");
	facts->local_bytes = stack > facts->local_bytes ? stack : facts->local_bytes;
	if (!strstr(line, ": Used "))
		return;
	facts->registers = before(line, "registers");
	facts->shared_bytes = before(line, "bytes smem");
	stack = before(line, "bytes cumulative stack size");
	facts->local_bytes = stack > facts->local_bytes ? stack : facts->local_bytes;
}

/* Returns the limit that registers set: all devices since 5.0 have 64 Ki of them for a block. */
static int threads_max(int registers) {
	struct gpu_facts device = {.threads_per_sm = 1024,
	                           .blocks_per_sm = 1,
	                           .registers_per_sm = 65536,
	                           .registers_per_block = 65536,
	                           .threads_per_block = 1024,
	                           .shared_per_sm = 1};
	const struct gpu_function_facts facts = {.registers = registers};
	int threads = 1024;
	while (threads > 32 && occupancy_of(&device, &facts, (unsigned)threads, 0).blocks == 0)
		threads -= 32;
	return threads;
}

struct gpu_compiled *ptxas_read(const char *log, size_t *count) {
	struct gpu_compiled *all = mem_alloc(1, sizeof *all), *now = NULL;
	*count = 0;
	while (*log) {
		char line[512];
		size_t length = strcspn(log, "\n");
		snprintf(line, sizeof line, "%.*s", (int)(length < sizeof line ? length : sizeof line - 1), log);
		log += length + (log[length] == '\n');
		char name[COMPILED_NAME];
		if (name_read(line, name, sizeof name) && *count < PTXAS_FUNCTIONS) {
			all = mem_grow(all, *count + 1, sizeof *all);
			now = &all[(*count)++];
			*now = (struct gpu_compiled){.name = ""};
			memcpy(now->name, name, sizeof name);
		} else if (now) {
			line_read(line, &now->facts);
		}
	}
	for (size_t i = 0; i < *count; i++)
		all[i].facts.threads_max = threads_max(all[i].facts.registers);
	return all;
}

/* The code of the closest older architecture of the same generation runs, too; a newer generation needs PTX, which the
 * driver compiles (NVIDIA, CUDA C++ Programming Guide 13.0, 6.1 "Binary compatibility" and "PTX compatibility"). */
static bool arch_choose(const struct nvrtc *nvrtc, int arch, char *text, size_t size, bool *ptx) {
	int archs[128], count = 0, best = 0;
	if (!nvrtc->arch_count || !nvrtc->archs || nvrtc->arch_count(&count) != NVRTC_FINE || count <= 0 ||
	    count > (int)(sizeof archs / sizeof *archs) || nvrtc->archs(archs) != NVRTC_FINE)
		archs[0] = arch, count = 1;
	for (int i = 0; i < count; i++)
		if (archs[i] <= arch && archs[i] > best)
			best = archs[i];
	*ptx = best / 10 != arch / 10;
	/* 9.0 has instructions that no other architecture has, wgmma among them, and only code for 9.0a may use them. */
	snprintf(text, size, "%s_%d%s", *ptx ? "compute" : "sm", best, best == 90 && arch == 90 ? "a" : "");
	return best;
}

/* NVRTC 12.9 and newer may take code from the driver's cache, and then write no log (NVIDIA, NVRTC 13.0, "Caching").
 * The names of functions and their registers are read from the log. Our own cache keeps them beside the code. */
static void driver_cache_avoid(const struct nvrtc *nvrtc, struct options *options) {
	if (!nvrtc->is_hip && (nvrtc->major > 12 || (nvrtc->major == 12 && nvrtc->minor >= 9)))
		options->words[options->count++] = "--no-cache";
}

/* Takes the first line of a log that contains "error"; without one err stays. */
static void compile_error(const char *log, struct err *err) {
	for (const char *line = log; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		int length = (int)strcspn(line, "\n");
		const char *found = strstr(line, "error");
		if (!found || found >= line + length)
			continue;
		err_set(err, ERR_FAILED, NULL, "%.*s", length, line);
		return;
	}
}

/* Nvcc compiles sources that include headers for the host's compiler, or have the host's own code. */

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
	for (size_t i = 0; i < CUDA_ROOTS && !path; i++) {
		if (i == CUDA_ROOTS_NAMED)
			path = program_path("nvcc", NULL, &err);
		if (!path)
			path = nvcc_in(cuda_root(i));
	}
	return path;
}

static const char *nvcc_path(struct compiler *compiler) {
	if (!compiler->nvcc_tried)
		compiler->nvcc = compiler->nvrtc.is_hip ? NULL : nvcc_find();
	compiler->nvcc_tried = true;
	return compiler->nvcc;
}

/* A toolkit of the same path may be another one after an update. */
static void nvcc_key(struct sha256 *sha, const char *path) {
	struct stat file = {.st_size = 0};
	char text[VERSION_TEXT];
	stat(path, &file);
	int used =
		snprintf(text, sizeof text, "1 nvcc %s %lld %lld", path, (long long)file.st_size, (long long)file.st_mtime);
	sha256_add(sha, text, (size_t)used < sizeof text ? (size_t)used + 1 : sizeof text);
}

static bool is_nvrtc_alone(const char *option) {
	static const char *const all[] = {"--no-cache", "-default-device", "--device-as-default-execution-space"};
	return text_is_one_of(option, all);
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

static bool nvcc_translate(const char *path, const struct source *source, const struct headers *headers,
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

/* NVRTC's file is part of the key beside its version, because libraries of the same version may differ. */
static void nvrtc_key(struct sha256 *sha, const struct nvrtc *nvrtc) {
	struct stat file = {.st_size = 0};
	char text[512];
	stat(nvrtc->library.path, &file);
	int used = snprintf(text, sizeof text, "1 %d.%d %s %lld %lld", nvrtc->major, nvrtc->minor, nvrtc->library.path,
	                    (long long)file.st_size, (long long)file.st_mtime);
	sha256_add(sha, text, (size_t)used + 1);
}

/* nvcc: its path, or NULL for NVRTC. */
static void key_make(const struct compiler *compiler, const struct source *source, const struct headers *headers,
                     const struct options *options, const char *nvcc, char key[CACHE_KEY]) {
	struct sha256 sha;
	sha256_start(&sha);
	if (nvcc)
		nvcc_key(&sha, nvcc);
	else
		nvrtc_key(&sha, &compiler->nvrtc);
	for (int i = 0; i < options->count; i++)
		sha256_add(&sha, options->words[i], strlen(options->words[i]) + 1);
	sha256_add(&sha, "", 1);
	if (source->device)
		sha256_add(&sha, source->device, strlen(source->device) + 1);
	sha256_add(&sha, source->name, strlen(source->name) + 1);
	for (int i = 0; i < headers->count; i++)
		sha256_add(&sha, headers->texts[i], strlen(headers->texts[i]) + 1);
	sha256_add(&sha, source->text, strlen(source->text) + 1);
	if (source->seen)
		sha256_add(&sha, source->seen, strlen(source->seen));
	sha256_end(&sha, key);
}

/* The included files may have changed while the compiler read them. */
static bool is_as_seen(const struct source *source) {
	char now[SHA256_TEXT];
	return !source->seen || !source->seen[0] ||
	       (includes_digest(source->text, source->options, now) && strcmp(now, source->seen) == 0);
}

static const char *compiler_name(const struct nvrtc *nvrtc) {
	return nvrtc->is_hip ? "hiprtc" : "NVRTC";
}

/* The name of the source for hiprtc, in a separate folder. */
#define HIPRTC_FILE "CompileSource"

/* Without such a line the message is the compiler's result. */
static void log_error(const struct nvrtc *nvrtc, const char *log, const char *name, nvrtc_result result,
                      struct err *err) {
	err_set(err, ERR_FAILED, NULL, "%s does not compile: error %d of %s", name, (int)result, compiler_name(nvrtc));
	compile_error(log, err);
	const char *file = nvrtc->is_hip ? strstr(err->what, HIPRTC_FILE) : NULL;
	if (file && file < strstr(err->what, "error")) {
		mem_auto char *rest = mem_strdup(file + strlen(HIPRTC_FILE));
		err_set(err, ERR_FAILED, NULL, "%s%s", name, rest);
	}
}

static char *log_read(const struct nvrtc *nvrtc, nvrtc_program program) {
	size_t size = 0;
	if (nvrtc->log_size(program, &size) != NVRTC_FINE || size > (size_t)64 << 20)
		size = 0;
	char *log = mem_alloc(size + 1, 1);
	if (size && nvrtc->log(program, log) != NVRTC_FINE)
		log[0] = '\0';
	return log;
}

static bool image_read(const struct nvrtc *nvrtc, nvrtc_program program, bool ptx, struct code *code) {
	nvrtc_result (*size)(nvrtc_program, size_t *) = ptx ? nvrtc->ptx_size : nvrtc->cubin_size;
	nvrtc_result (*get)(nvrtc_program, char *) = ptx ? nvrtc->ptx : nvrtc->cubin;
	if (!size || !get || size(program, &code->size) != NVRTC_FINE || code->size == 0)
		return false;
	code->image = mem_alloc(code->size + 1, 1);
	return get(program, code->image) == NVRTC_FINE;
}

static bool translate(struct compiler *compiler, const struct source *source, const struct headers *headers,
                      const struct options *options, bool ptx, struct code *code, struct err *err) {
	const struct nvrtc *nvrtc = &compiler->nvrtc;
	nvrtc_program program = NULL;
	double start = sys_now();
	nvrtc_result result = nvrtc->create(&program, source->text, source->name, headers->count,
	                                    (const char *const *)headers->texts, (const char *const *)headers->names);
	if (result != NVRTC_FINE)
		return err_set(err, ERR_FAILED, NULL, "%s: error %d of %s", source->name, (int)result, compiler_name(nvrtc)) ==
		       0;
	result = nvrtc->compile(program, options->count, options->words);
	mem_auto char *log = log_read(nvrtc, program);
	bool fine = result == NVRTC_FINE && image_read(nvrtc, program, ptx, code);
	if (fine)
		code->functions = ptxas_read(log, &code->count);
	else
		log_error(nvrtc, log, source->name, result, err);
	nvrtc->destroy(&program);
	compiler->seconds += sys_now() - start;
	compiler->compiled++;
	return fine;
}

/* A source, and all that its compilers need. */
struct attempt {
	struct compiler *compiler;
	const struct source *source;
	const struct headers *headers;
	const struct options *options;
	const char *folder; /* of the cache, or NULL */
	bool ptx;
};

static bool attempt_load(const struct attempt *a, const char *nvcc, bool fresh, struct code *code) {
	char key[CACHE_KEY];
	key_make(a->compiler, a->source, a->headers, a->options, nvcc, key);
	if (a->folder && fresh)
		cache_remove(a->folder, key);
	bool loaded = a->folder && !fresh && cache_load(a->folder, key, code);
	a->compiler->from_disk += loaded;
	return loaded;
}

static void attempt_keep(const struct attempt *a, const char *nvcc, const struct code *code) {
	char key[CACHE_KEY];
	if (!a->folder || !is_as_seen(a->source))
		return;
	key_make(a->compiler, a->source, a->headers, a->options, nvcc, key);
	cache_store(a->folder, key, code);
	if (a->compiler->stored++ % 64 == 0)
		cache_trim(a->folder, CACHE_BYTES);
}

static bool nvcc_attempt(const struct attempt *a, const char *nvcc, struct code *code, struct err *err) {
	double start = sys_now();
	bool fine = nvcc_translate(nvcc, a->source, a->headers, a->options, code, err);
	a->compiler->seconds += sys_now() - start;
	a->compiler->compiled++;
	a->compiler->nvcc_worked = a->compiler->nvcc_worked || fine;
	a->compiler->nvcc_failed += !fine;
	return fine;
}

/* The words behind "error". */
static const char *error_words(const char *line) {
	const char *found = strstr(line, "error");
	return found ? found : line;
}

/* Both have failed. */
static void errors_join(const struct err *other, struct err *err) {
	struct err first = *err;
	if (strncmp(error_words(first.what), error_words(other->what), 40) != 0)
		err_set(err, ERR_FAILED, NULL, "%.110s (nvcc: %.110s)", first.what, other->what);
}

/* Nvcc takes seconds. It is not asked again where it has failed as well, some times, and never helped. */
enum { NVCC_TRIES = 3 };

static const char *nvcc_for(struct compiler *compiler, const struct source *source, bool ptx) {
	bool useless = compiler->nvcc_failed >= NVCC_TRIES && !compiler->nvcc_worked;
	bool wanted = source->by == BY_NVCC || (source->by == BY_EITHER && source->users && !useless);
	return wanted && !ptx ? nvcc_path(compiler) : NULL;
}

static bool compile_or_load(const struct attempt *a, bool fresh, struct code *code, struct err *err) {
	struct err why = {.code = ERR_OK};
	const char *nvcc = nvcc_for(a->compiler, a->source, a->ptx);
	bool by_nvcc = false, nvrtc = a->source->by != BY_NVCC;
	if (!nvrtc && !nvcc)
		return err_set(err, ERR_FAILED, NULL, "nvcc was not found in CUDA_HOME, PATH or /usr/local/cuda") == 0;
	if ((nvrtc && attempt_load(a, NULL, fresh, code)) || (nvcc && attempt_load(a, nvcc, fresh, code)))
		return true;
	bool fine = nvrtc && translate(a->compiler, a->source, a->headers, a->options, a->ptx, code, err);
	if (!fine && nvcc)
		fine = by_nvcc = nvcc_attempt(a, nvcc, code, nvrtc ? &why : err);
	if (fine)
		attempt_keep(a, by_nvcc ? nvcc : NULL, code);
	else if (nvrtc && nvcc)
		errors_join(&why, err);
	return fine;
}

bool compile_source(struct compiler *compiler, const struct source *source, bool fresh, struct code *code,
                    enum gpu_failure *failure, struct err *err) {
	char arch[24];
	bool ptx;
	struct options options;
	struct headers headers;
	*code = (struct code){.image = NULL};
	*failure = GPU_REFUSED;
	if (compiler->nvrtc.is_hip)
		arch[0] = '\0', ptx = false;
	else if (!arch_choose(&compiler->nvrtc, source->arch, arch, sizeof arch, &ptx))
		return err_set(err, ERR_UNAVAILABLE, "install the NVRTC of an older CUDA",
		               "NVRTC %d.%d knows no architecture %d.%d", compiler->nvrtc.major, compiler->nvrtc.minor,
		               source->arch / 10, source->arch % 10) == 0;
	if (options_make(&options, source, *arch ? arch : NULL) < 0)
		return err_set(err, ERR_USAGE, NULL, "%s: too many or too long options", source->name) == 0;
	driver_cache_avoid(&compiler->nvrtc, &options);
	*failure = GPU_COMPILE;
	if (!headers_read(source, &headers, err))
		return false;
	if (!compiler->tried)
		compiler->folder = cache_folder();
	compiler->tried = true;
	const struct attempt attempt = {compiler, source, &headers, &options, source->unseen ? NULL : compiler->folder,
	                                ptx};
	bool fine = compile_or_load(&attempt, fresh, code, err);
	headers_free(&headers);
	if (!fine)
		code_free(code);
	return fine;
}

void code_free(struct code *code) {
	free(code->image);
	free(code->functions);
	*code = (struct code){.image = NULL};
}

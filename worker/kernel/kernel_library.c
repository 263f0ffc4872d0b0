/* SPDX-License-Identifier: BSD-3-Clause */
#include <dlfcn.h>
#include <errno.h>
#include <math.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "base/json/js.h"
#include "base/text.h"
#include "worker/kernel/call.h"
#include "worker/kernel/word.h"

struct job {
	struct call call;
	int64_t arch;
};

static int job_read(struct arena *arena, const json_t *request, struct job *job, struct err *err) {
	static const char *const keys[] = {"op", "id", "kernel", "problem", "config", "arch"};
	const char *name;
	if (word_check_keys(request, keys, sizeof keys / sizeof *keys, err) != 0 ||
	    js_string(request, "kernel", &name, err) ||
	    js_int(request, "arch", COMPILE_ARCH_LEAST, COMPILE_ARCH_MOST, &job->arch, err))
		return -1;
	const struct kernel_entry *entry = kernel_find_on(kernel_registry, name, "cuda");
	if (!entry)
		return err_set(err, ERR_USAGE, NULL, "kernel \"%.100s\" does not run on cuda", name);
	return call_read(arena, entry, json_object_get(request, "problem"), json_object_get(request, "config"), &job->call,
	                 err);
}

json_t *compile_answer(bool fine, const struct gpu_ahead *ahead, struct err *why, struct err *err) {
	if (fine) {
		return json_pack("{s:s, s:b, s:b, s:f}", "status", "correct", "kept", ahead->kept, "from_disk",
		                 ahead->from_disk, "compile_s", ahead->seconds);
	}
	if (why->code != ERR_FAILED) {
		*err = *why;
		return NULL;
	}
	word_clean(why->what, sizeof why->what);
	return json_pack("{s:s, s:s}", "status", "compile", "message", why->what);
}

static json_t *job_run(struct gpu_compiler *compiler, const struct job *job, struct err *err) {
	const struct ss_call call = {
		.problem = job->call.problem, .config = job->call.config, .threads = job->call.threads, .seed = 1};
	struct gpu_defines defines;
	struct gpu_ahead ahead;
	struct err why = {.code = ERR_OK};
	const char *source = cuda_program_source(job->call.entry->kernel, &call, &defines);
	bool fine = gpu_compile_ours_ahead(compiler, source, &defines, (int)job->arch, &ahead, &why);
	return compile_answer(fine, &ahead, &why, err);
}

/* A kernel that does not say what its program is compiles it by itself, when it is set up. */
json_t *compile_kernel_answer(struct gpu_compiler **compiler, const json_t *request, struct err *err) {
	struct arena *arena = arena_new();
	struct job job;
	json_t *answer = NULL;
	bool read = job_read(arena, request, &job, err) == 0, known = read && job.call.entry->kernel->program;
	if (known && !*compiler)
		*compiler = gpu_compiler_new(err);
	if (known && *compiler)
		answer = job_run(*compiler, &job, err);
	else if (read && !known)
		answer = compile_answer(true, &(struct gpu_ahead){.kept = false}, NULL, err);
	arena_free(arena);
	return answer;
}

/* A plug-in's code has to be trusted, but its tables are not trusted to be right. */

enum { NAME_MAX_SIZE = 63, TEXT_MAX = 4096, PARAMS_MAX = 64, CONSTRAINTS_MAX = 256 };
static const size_t MEMORY_MAX = (size_t)1
                                 << 30; /* of input and state themselves; kernels allocate larger memory themselves */

static bool is_name(const char *name) {
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789";
	return name && *name && strspn(name, letters) == strlen(name) && strlen(name) <= NAME_MAX_SIZE &&
	       (*name < '0' || *name > '9');
}

/* One line of UTF-8. */
static int text_check(const char *text, bool may_be_null, const char *what, struct err *err) {
	size_t size = text ? strnlen(text, TEXT_MAX + 1) : 0;
	if (!text)
		return may_be_null ? 0 : err_set(err, ERR_USAGE, NULL, "its %s is missing (NULL)", what);
	for (size_t i = 0; i < size && size <= TEXT_MAX;) {
		size_t length = text_utf8(text + i, size - i);
		if (length == 0 || (unsigned char)text[i] < ' ' || text[i] == 127)
			return err_set(err, ERR_USAGE, "write one line of UTF-8", "its %s is not plain text", what);
		i += length;
	}
	return size <= TEXT_MAX ? 0 : err_set(err, ERR_USAGE, NULL, "its %s is over %d bytes", what, TEXT_MAX);
}

static int words_check(const struct ss_param *param, struct arena *arena, struct err *err) {
	size_t count;
	const char *const *words = word_split(arena, param->values, &count);
	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < i; j++)
			if (strcmp(words[i], words[j]) == 0)
				return err_set(err, ERR_USAGE, NULL, "its values have \"%.100s\" twice", words[i]);
	}
	return count ? 0 : err_set(err, ERR_USAGE, "list every word: \"a,b,c\"", "it takes words, but does not list any");
}

static int param_check(const struct ss_param *param, bool tunable, struct arena *arena, struct err *err) {
	struct ss_value ignored;
	if (text_check(param->summary, false, "summary", err) != 0 ||
	    text_check(param->initial, false, "initial value", err) != 0 ||
	    text_check(param->values, !tunable && param->type != SS_WORD, "list of values", err) != 0 ||
	    text_check(param->when, true, "condition", err) != 0)
		return -1;
	if (param->type != SS_INT && param->type != SS_REAL && param->type != SS_WORD && param->type != SS_TEXT)
		return err_set(err, ERR_USAGE, "it is SS_INT, SS_REAL, SS_WORD or SS_TEXT", "its type is %d", (int)param->type);
	if (tunable && param->type == SS_TEXT)
		return err_set(err, ERR_USAGE, "only a part of a problem is SS_TEXT", "a text cannot be tuned");
	if (!isfinite(param->min) || !isfinite(param->max) || param->min > param->max) {
		return err_set(err, ERR_USAGE, "use 0 for both where there are none", "its bounds are %g and %g", param->min,
		               param->max);
	}
	if (param->type == SS_WORD && words_check(param, arena, err) != 0)
		return -1;
	return param_initial(arena, param, &ignored, err) == 0 ? 0 : err_prefix(err, "its initial value");
}

static bool is_taken(const struct ss_kernel *kernel, const char *name) {
	static const char *const openmp[] = {"threads", "places", "proc_bind"}, *const schedule[] = {"schedule", "chunk"};
	for (size_t i = 0; kernel->flags & SS_OPENMP && i < 3; i++)
		if (strcmp(name, openmp[i]) == 0)
			return true;
	for (size_t i = 0; kernel->flags & SS_SCHEDULE && i < 2; i++)
		if (strcmp(name, schedule[i]) == 0)
			return true;
	return false;
}

/* True if one of the first `count` parameters has this name. */
static bool is_among(const struct ss_param *params, size_t count, const char *name) {
	for (size_t i = 0; params && i < count && params[i].name; i++)
		if (strcmp(params[i].name, name) == 0)
			return true;
	return false;
}

static int params_check(const struct ss_kernel *kernel, const struct ss_param *params, bool tunable,
                        struct arena *arena, struct err *err) {
	for (size_t i = 0; params && params[i].name; i++) {
		const char *name = params[i].name;
		if (i == PARAMS_MAX) {
			return err_set(err, ERR_USAGE, "end a table with {.name = NULL}", "a table has more than %d parameters",
			               PARAMS_MAX);
		}
		if (!is_name(name)) {
			return err_set(err, ERR_USAGE, "a name has letters, digits and _", "the name of parameter %zu is not valid",
			               i);
		}
		if (is_taken(kernel, name)) {
			return err_set(err, ERR_USAGE, "OpenMP kernels get it for free: leave it out of the table",
			               "parameter %s is one of the worker's own", name);
		}
		if (is_among(params, i, name) || (tunable && is_among(kernel->problem, PARAMS_MAX, name)))
			return err_set(err, ERR_USAGE, NULL, "two parameters are called %s", name);
		if (param_check(&params[i], tunable, arena, err) != 0)
			return err_prefix(err, "parameter %s", name);
	}
	return 0;
}

static bool is_event_twice(const struct ss_event *events, size_t i) {
	for (size_t j = 0; j < i; j++)
		if (strcmp(events[j].name, events[i].name) == 0)
			return true;
	return false;
}

static int events_check(const struct ss_event *events, struct err *err) {
	for (size_t i = 0; events && events[i].name; i++) {
		if (i == SS_EVENTS_MAX)
			return err_set(err, ERR_USAGE, "end a table with {.name = NULL}", "more than %d events", SS_EVENTS_MAX);
		if (!is_name(events[i].name))
			return err_set(err, ERR_USAGE, "a name has letters, digits and _", "the name of event %zu is not valid", i);
		if (is_event_twice(events, i))
			return err_set(err, ERR_USAGE, NULL, "two events are called %s", events[i].name);
		if (text_check(events[i].summary, false, "summary", err) != 0)
			return err_prefix(err, "event %s", events[i].name);
	}
	return 0;
}

static int texts_check(const struct ss_kernel *kernel, struct err *err) {
	for (size_t i = 0; kernel->constraints && kernel->constraints[i]; i++) {
		if (i == CONSTRAINTS_MAX)
			return err_set(err, ERR_USAGE, "end them with NULL", "more than %d constraints", CONSTRAINTS_MAX);
		if (text_check(kernel->constraints[i], false, "constraint", err) != 0)
			return -1;
	}
	return text_check(kernel->summary, false, "summary", err) != 0 ||
	               text_check(kernel->schedule_when, true, "schedule_when", err) != 0 ||
	               text_check(kernel->unsafe, true, "unsafe condition", err) != 0 ||
	               text_check(kernel->serial, true, "serial configuration", err) != 0
	           ? -1
	           : 0;
}

static int abi_check(uint32_t abi, struct err *err) {
	return abi == SS_KERNEL_ABI ? 0
	                            : err_set(err, ERR_USAGE, "rebuild it against the installed sweetspot/kernel.h",
	                                      "made for ABI %u, this worker speaks %d", (unsigned)abi, SS_KERNEL_ABI);
}

static int kernel_check(const struct ss_kernel *kernel, struct arena *arena, struct err *err) {
	if (abi_check(kernel->abi, err) != 0 || texts_check(kernel, err) != 0)
		return -1;
	if (kernel->flags & ~(unsigned)(SS_OPENMP | SS_SCHEDULE | SS_RACY | SS_TEAM_GIVEN))
		return err_set(err, ERR_USAGE, "the flags are in enum ss_flags", "it has unknown flags (%#x)", kernel->flags);
	if (kernel->flags & SS_TEAM_GIVEN && !(kernel->flags & SS_OPENMP))
		return err_set(err, ERR_USAGE, "add SS_OPENMP to its flags", "its team is given, but it does not use threads");
	if (kernel->flags & SS_SCHEDULE && !(kernel->flags & SS_OPENMP))
		return err_set(err, ERR_USAGE, "add SS_OPENMP to its flags", "it has a schedule but no threads");
	if (kernel->device) {
		return err_set(err, ERR_USAGE, "leave .device out, because a GPU's kernel calls functions inside the worker",
		               "a plug-in's kernel runs on the CPU");
	}
	if (!kernel->run || !kernel->verify) {
		return err_set(err, ERR_USAGE, "only verified results are measured: compare with an oracle",
		               "its hook %s is missing", kernel->run ? "verify" : "run");
	}
	if (kernel->input_size > MEMORY_MAX || kernel->state_size > MEMORY_MAX) {
		return err_set(err, ERR_USAGE, "allocate large memory in open and setup",
		               "input_size or state_size is above %zu bytes", MEMORY_MAX);
	}
	return params_check(kernel, kernel->problem, false, arena, err) != 0 ||
	               params_check(kernel, kernel->params, true, arena, err) != 0 || events_check(kernel->events, err) != 0
	           ? -1
	           : 0;
}

static int name_check(const struct ss_kernel *const *kernels, size_t i, struct err *err) {
	if (!is_name(kernels[i]->name))
		return err_set(err, ERR_USAGE, "a name has letters, digits and _", "the name of kernel %zu is not valid", i);
	for (size_t j = 0; j < i; j++)
		if (strcmp(kernels[j]->name, kernels[i]->name) == 0)
			return err_set(err, ERR_USAGE, NULL, "two kernels are called %s", kernels[i]->name);
	return 0;
}

/* Checks the tables completely before anything in them is used. */
static int library_check(const struct ss_plugin *plugin, struct err *err) {
	if (abi_check(plugin->abi, err) != 0)
		return -1;
	if (!plugin->kernels || !plugin->kernels[0])
		return err_set(err, ERR_USAGE, "SS_PLUGIN(&your_kernel);", "it has no kernels");
	struct arena *arena = arena_new();
	int status = 0;
	for (size_t i = 0; plugin->kernels[i] && status == 0; i++)
		if (i == LIBRARY_KERNELS_MAX)
			status = err_set(err, ERR_USAGE, "end the list with NULL", "more than %d kernels", LIBRARY_KERNELS_MAX);
		else if (name_check(plugin->kernels, i, err) != 0)
			status = -1;
		else if (kernel_check(plugin->kernels[i], arena, err) != 0)
			status = err_prefix(err, "kernel %s", plugin->kernels[i]->name);
	arena_free(arena);
	return status;
}

enum { FILE_MAX = 256 << 20 };

struct library {
	const char *path;
	struct stat stat; /* of the loaded file */
	const struct kernel_entry *entries;
};

struct libraries {
	struct arena *arena;
	struct library items[LIBRARIES_MAX];
	size_t count;
};

struct libraries *libraries_new(void) {
	struct libraries *libraries = mem_alloc(1, sizeof *libraries);
	libraries->arena = arena_new();
	return libraries;
}

void libraries_free(struct libraries *libraries) {
	if (libraries) {
		arena_free(libraries->arena);
		free(libraries);
	}
}

static bool same_file(const struct stat *a, const struct stat *b) {
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static int file_check(const char *path, struct stat *now, struct err *err) {
	static const char hint[] = "name the shared object that your build writes, for example ./libmine.so";
	if (path[0] != '/')
		return err_set(err, ERR_USAGE, hint, "the plug-in's path \"%.200s\" is not absolute", path);
	if (stat(path, now) != 0 || !S_ISREG(now->st_mode))
		return err_set(err, ERR_USAGE, hint, "the file %.300s does not exist", path);
	return 0;
}

static bool is_elf(const char *path) {
	char magic[4] = "";
	FILE *file = fopen(path, "rbe");
	bool elf = file && fread(magic, sizeof magic, 1, file) == 1 && memcmp(magic, "\177ELF", sizeof magic) == 0;
	if (file)
		fclose(file);
	return elf;
}

static int hash_take(const char *path, char hash[SHA256_TEXT], struct err *err) {
	if (!file_hash(path, 0, FILE_MAX, hash))
		return err_set(err, ERR_USAGE, NULL, "cannot read %.300s: %s", path, strerror(errno));
	return is_elf(path) ? 0
	                    : err_set(err, ERR_USAGE, "build one with cc -shared -fPIC: see doc/plugins.md",
	                              "%.300s is not a shared object", path);
}

static const struct ss_plugin *plugin_open(const char *path, struct err *err) {
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle)
		return err_null(err_set(err, ERR_USAGE,
		                        "link it with all the libraries that it needs (cc -shared -fPIC ... -lm)",
		                        "%.300s cannot be loaded: %.180s", path, dlerror()));
	const struct ss_plugin *plugin = dlsym(handle, "sweetspot_plugin");
	if (!plugin) {
		err_set(err, ERR_USAGE, "write SS_PLUGIN(&your_kernel); in one of its files (sweetspot/kernel.h)",
		        "%.300s is not a plug-in: it does not export sweetspot_plugin", path);
	}
	return plugin;
}

static const struct kernel_entry *entries_new(struct arena *arena, const struct ss_plugin *plugin, const char *hash) {
	const char *source = arena_strdup(arena, hash);
	struct kernel_entry *entries = arena_alloc(arena, LIBRARY_KERNELS_MAX + 1, sizeof *entries);
	for (size_t i = 0; plugin->kernels[i]; i++)
		entries[i] = (struct kernel_entry){.kernel = plugin->kernels[i], .source = source};
	return entries;
}

/* The hash is taken before loading; a file that changes in between is caught by its time stamp. */
static const struct kernel_entry *library_add(struct libraries *libraries, const char *path, const struct stat *now,
                                              struct err *err) {
	char hash[SHA256_TEXT];
	if (libraries->count == LIBRARIES_MAX)
		return err_null(
			err_set(err, ERR_USAGE, "tune them in several runs", "more than %d plug-ins are loaded", LIBRARIES_MAX));
	const struct ss_plugin *plugin = hash_take(path, hash, err) == 0 ? plugin_open(path, err) : NULL;
	if (!plugin)
		return NULL;
	if (library_check(plugin, err) != 0)
		return err_null(err_prefix(err, "%.300s", path));
	struct library *library = &libraries->items[libraries->count++];
	*library = (struct library){.path = arena_strdup(libraries->arena, path),
	                            .stat = *now,
	                            .entries = entries_new(libraries->arena, plugin, hash)};
	return library->entries;
}

const struct kernel_entry *libraries_load(struct libraries *libraries, const char *path, struct err *err) {
	struct stat now;
	if (file_check(path, &now, err) != 0)
		return NULL;
	for (size_t i = 0; i < libraries->count; i++) {
		const struct library *library = &libraries->items[i];
		if (strcmp(library->path, path) != 0)
			continue;
		if (same_file(&library->stat, &now))
			return library->entries;
		return err_null(err_set(err, ERR_USAGE,
		                        "run it again once the build is done: results of two builds must not be mixed",
		                        "%.300s has changed since it was loaded", path));
	}
	return library_add(libraries, path, &now, err);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiles one configuration to a plug-in. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "tuner/build/cache.h"
#include "tuner/spec/c/impl.h"

/* The compiler runs where the code will, because code for the processor of a node has to be made on that node. */
static const double COMPILE_SECONDS = 60, SPARE_SECONDS = 30, GRACE_SECONDS = 2;
enum { LOG_MAX = 1 << 20 };

enum c_outcome { C_DONE, C_REFUSED, C_BROKEN };

static int compile_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	(void)ctx;
	return worker_status_read(answer, result, err);
}

/* The worker keeps the end of a program's output, but the first error of a compiler is the useful one: its output goes
 * to a log file. */
static json_t *request_make(const struct c_compiler *compiler, const char *const *arguments, const char *log,
                            double seconds) {
	json_t *words =
		json_pack("[s,s,s,s,s]", "/bin/sh", "-c", "log=$1; shift; exec \"$@\" >/dev/null 2>\"$log\"", "sh", log);
	for (const char *const *word = compiler->words; *word; word++)
		json_array_append_new(words, json_string(*word));
	for (; *arguments; arguments++)
		json_array_append_new(words, json_string(*arguments));
	return json_pack("{s:s,s:o,s:s,s:{s:s,s:s},s:i,s:i,s:f}", "op", "program", "argv", words, "cwd", compiler->cwd,
	                 "env", "LC_ALL", "C", "TMPDIR", compiler->folder, "samples", 1, "warmup", 0, "timeout_s", seconds);
}

/* "/long/path/kernel.c:3:1: error: x" without the folder. */
static const char *without_folder(const char *line, size_t size) {
	const char *colon = memchr(line, ':', size), *name = line;
	for (const char *c = line; colon && *line == '/' && c < colon; c++)
		if (*c == '/')
			name = c + 1;
	return name;
}

/* Text: a compiler's output. The first line that names an error, or else the first line that is not empty. */
static void c_first_error(const char *text, char message[256]) {
	static const char *const marks[] = {"undefined reference", "error: ", "ld: ", ""};
	message[0] = '\0';
	for (size_t m = 0; m < sizeof marks / sizeof *marks && !message[0]; m++) {
		for (const char *line = text; *line && !message[0];) {
			size_t size = strcspn(line, "\n");
			const char *found = memmem(line, size, marks[m], strlen(marks[m])), *from = without_folder(line, size);
			if (found && size)
				snprintf(message, 256, "%.*s", (int)(size - (size_t)(from - line)), from);
			line += size + (line[size] == '\n');
		}
	}
}

static void message_read(const char *log, const struct trial_result *result, char message[256]) {
	size_t size;
	mem_auto char *text = sys_read_file(log, LOG_MAX, &size, NULL);
	message[0] = '\0';
	if (text && result->status != TRIAL_TIMEOUT)
		c_first_error(text, message);
	if (!message[0])
		snprintf(message, 256, "the compiler: %.200s",
		         *result->message ? result->message : trial_status_text(result->status));
}

/* Runs the compiler on these arguments, NULL-terminated; `folder` has its output for a while. C_REFUSED: message has
 * the first error; C_BROKEN: err tells why nothing could run, or that it was interrupted. */
static enum c_outcome c_compile(const struct c_compiler *compiler, const char *const *arguments, const char *folder,
                                char message[256], struct err *err) {
	double seconds = compiler->seconds > 0 ? fmin(compiler->seconds, COMPILE_SECONDS) : COMPILE_SECONDS;
	mem_auto char *log = mem_printf("%s/compiler.log", folder);
	js_auto json_t *request = request_make(compiler, arguments, log, seconds);
	const struct worker_question question = {
		.request = request, .timeout_s = seconds + SPARE_SECONDS, .grace_s = GRACE_SECONDS, .use = compile_use};
	struct trial_result result = {0};
	enum c_outcome outcome = C_BROKEN;
	if (!request)
		err_set(err, ERR_USAGE, "write it in UTF-8", "the compiler's arguments cannot be sent to the worker");
	else if (worker_exchange(compiler->worker, &question, &result, err) == 0)
		outcome = result.status == TRIAL_CORRECT ? C_DONE : C_REFUSED;
	if (outcome == C_REFUSED)
		message_read(log, &result, message);
	unlink(log);
	trial_result_clear(&result);
	return outcome;
}

/* The generated parts of a plug-in. Only checked names and numbers of the specification get into them. */

static const char c_harness_file[] = "harness.c", c_unit_file[] = "unit.c", c_object_file[] = "harness.o";

/* One literal per line, because the standard limits the length of a literal. */
static const char *const kernel_header[] = {
#include "tuner/spec/c/kernel.def"
	NULL};
static const char *const harness[] = {
#include "tuner/spec/c/harness.def"
	NULL};

static void lines_print(FILE *out, const char *const *lines) {
	for (; *lines; lines++)
		fprintf(out, "%s\n", *lines);
}

static void header_print(FILE *out, const struct c_kernel *kernel) {
	(void)kernel;
	lines_print(out, kernel_header);
}

static void harness_print(FILE *out, const struct c_kernel *kernel) {
	(void)kernel;
	lines_print(out, harness);
}

static void argument_print(FILE *out, const struct c_argument *a) {
	static const char *const kinds[] = {[C_SIGNED] = "SIGNED", [C_UNSIGNED] = "UNSIGNED", [C_REAL] = "REAL"};
	static const char *const accesses[] = {"READ_ONLY", "WRITE_ONLY", "READ_WRITE"};
	static const char *const words[] = {"sum", "sorted", "norm"};
	const char *by = a->verify ? words[0] : "elements", *columns = a->verify ? strchr(a->verify, ':') : NULL;
	for (size_t i = 1; i < sizeof words / sizeof *words; i++)
		if (a->verify && strcmp(a->verify, words[i]) == 0)
			by = words[i];
	fprintf(out,
	        "\t{\"%s\", %s, %zu, %" PRIu64 "u, %s, %d, %d, %a, UINT64_C(%" PRIu64
	        "), %d, %a, %a, %a, \"%s\", BY_%s, %s, %d},\n",
	        a->name, kinds[a->type->kind], a->type->bytes, a->count, accesses[a->access], a->random, a->output, a->real,
	        a->whole, a->tolerance.given, a->tolerance.absolute, a->tolerance.relative, a->tolerance.share,
	        a->file ? a->file : "", by, columns ? columns + 1 : "1", a->reference != NULL);
}

static void arguments_print(FILE *out, const struct c_kernel *kernel) {
	bool reset = false;
	for (size_t i = 0; i < kernel->argument_count; i++)
		reset = reset || kernel->arguments[i].access == C_READ_WRITE;
	fprintf(out, "enum { ARGUMENTS = %zu, OPENMP = %d, RESET = %d };\nstatic const struct argument arguments[] = {\n",
	        kernel->argument_count, kernel->openmp, reset);
	for (size_t i = 0; i < kernel->argument_count; i++)
		argument_print(out, &kernel->arguments[i]);
	fputs("};\n", out);
}

/* The kernel's file comes first because the headers must see its definitions, such as _GNU_SOURCE. Its own prototype is
 * the one that counts. */
static void unit_print(FILE *out, const struct c_kernel *kernel) {
	fprintf(out, "#include \"%s\"\n", kernel->file);
	fputs("#pragma GCC diagnostic error \"-Wincompatible-pointer-types\"\n"
	      "#pragma GCC diagnostic error \"-Wimplicit-function-declaration\"\n"
	      "void ss_t1_call(void *const *ss_t1_arguments);\n"
	      "void ss_t1_call(void *const *ss_t1_arguments) {\n",
	      out);
	fprintf(out, "\t%s(", kernel->name);
	for (size_t i = 0; i < kernel->argument_count; i++) {
		const struct c_argument *a = &kernel->arguments[i];
		/* long and long long are one type to a specification, but two to C. */
		bool any = a->type->kind != C_REAL && a->type->bytes == 8;
		fprintf(out, "%s\n\t\t", i ? "," : "");
		if (a->scalar)
			fprintf(out, "*(const %s *)ss_t1_arguments[%zu]", a->type->in_c, i);
		else
			fprintf(out, "(%s *)ss_t1_arguments[%zu]", any ? "void" : a->type->in_c, i);
	}
	fputs(");\n}\n", out);
}

static const struct {
	const char *name;
	void (*print)(FILE *out, const struct c_kernel *kernel);
} parts[] = {
	{"kernel.h", header_print},
	{c_harness_file, harness_print},
	{"arguments.h", arguments_print},
	{c_unit_file, unit_print},
};

static int c_sources_write(const struct c_kernel *kernel, const char *folder, struct sha256 *sha, struct err *err) {
	int failed = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts && !failed; i++) {
		mem_auto char *text = NULL, *path = mem_printf("%s/%s", folder, parts[i].name);
		size_t size = 0;
		FILE *memory = open_memstream(&text, &size);
		if (memory)
			parts[i].print(memory, kernel);
		failed = memory && fclose(memory) == 0 ? sys_write_file(path, text, size, err)
		                                       : err_set(err, ERR_FAILED, NULL, "out of memory");
		if (!failed)
			sha256_add(sha, text, size);
	}
	return failed;
}

/* Compiling the harness first also proves that the compiler works. */
static int harness_build(const struct c_kernel *kernel, const struct c_compiler *compiler, struct err *err) {
	mem_auto char *from = mem_printf("%s/%s", compiler->folder, c_harness_file),
				  *to = mem_printf("%s/%s", compiler->folder, c_object_file);
	const char *const arguments[] = {"-O2", "-fPIC", "-w", "-c", from, "-o", to, kernel->openmp ? "-fopenmp" : NULL,
	                                 NULL};
	char message[256];
	switch (c_compile(compiler, arguments, compiler->folder, message, err)) {
	case C_DONE:
		return 0;
	case C_REFUSED:
		return err_set(err, ERR_FAILED, "name a working C compiler in the environment variable CC",
		               "%s cannot compile a plug-in: %s", compiler->words[0], message);
	case C_BROKEN:
	default:
		return -1;
	}
}

int c_harness_make(const struct c_kernel *kernel, const struct c_compiler *compiler, struct sha256 *sha,
                   struct err *err) {
	int failed = c_sources_write(kernel, compiler->folder, sha, err) || harness_build(kernel, compiler, err);
	return failed ? -1 : 0;
}

/* The prerequisites that a compiler writes with -MD, a rule of make, as hashes of the files. */

enum { RULE_MAX = 4 << 20, FILE_MAX = 64 << 20, FILES_MAX = 10000 };

static json_t *hash_of(const char *path) {
	char hash[SHA256_TEXT];
	return file_hash(path, 0, FILE_MAX, hash) ? json_string(hash) : NULL;
}

/* The next name of a rule, into `name`, which has room for all of the rule; NULL: there are no more. */
static const char *name_next(const char *at, char *name) {
	size_t size = 0;
	while (*at == ' ' || *at == '\n' || *at == '\t' || (at[0] == '\\' && at[1] == '\n'))
		at++;
	for (; *at && !strchr(" \n\t", *at) && !(at[0] == '\\' && at[1] == '\n'); at++) {
		bool quotes = (at[0] == '\\' && at[1] && strchr(" #\\", at[1])) || (at[0] == '$' && at[1] == '$');
		at += quotes;
		name[size++] = *at;
	}
	name[size] = '\0';
	return size ? at : NULL;
}

static bool is_below(const char *path, const char *folder) {
	size_t size = strlen(folder);
	return strncmp(path, folder, size) == 0 && path[size] == '/';
}

/* A file that changed during the build may be another one than the compiler has read. */
static bool file_add(json_t *files, const char *path, double begun) {
	struct stat info;
	if (json_object_get(files, path))
		return true;
	return json_object_size(files) < FILES_MAX && stat(path, &info) == 0 &&
	       (double)info.st_mtim.tv_sec < floor(begun) && json_object_set_new(files, path, hash_of(path)) == 0;
}

/* From the rule that the compiler has written into the file `rule`: {"PATH": "sha256:.."}, without files below `skip`,
 * whose texts are part of the key. NULL: it cannot be read, or a file was changed after `begun` (seconds since 1970).
 * Relative paths are relative to `cwd`. New reference. */
static json_t *c_depend_seen(const char *rule, const char *cwd, const char *skip, double begun) {
	mem_auto char *text = sys_read_file(rule, RULE_MAX, NULL, NULL);
	const char *at = text ? strstr(text, ": ") : NULL;
	mem_auto char *name = mem_alloc(text ? strlen(text) + 1 : 1, 1);
	js_auto json_t *files = json_object();
	bool good = at;
	for (at = at ? at + 1 : ""; good && (at = name_next(at, name));) {
		mem_auto char *path = *name == '/' ? mem_strdup(name) : mem_printf("%s/%s", cwd, name);
		good = is_below(path, skip) || file_add(files, path, begun);
	}
	return good ? json_incref(files) : NULL;
}

/* Are all files as they were? */
static bool c_depend_holds(void *ctx, const json_t *facts) {
	(void)ctx;
	js_members (path, was, facts) {
		js_auto json_t *now = hash_of(path);
		bool same = now && json_equal(now, was);
		if (!same)
			return false;
	}
	return true;
}

enum { ARGUMENTS_ROOM = 192 };

static const char rule_file[] = "depend";
const char c_plugin_file[] = "kernel.so";
const char *const c_first_options[] = {"-O3", "-march=native", "-fPIC", "-fvisibility=hidden", NULL};

/* The specification's options come last because later options win. */
static int arguments_make(const struct c_kernel *kernel, const char *folder, struct arena *arena, const json_t *config,
                          const char *tree, const char *arguments[ARGUMENTS_ROOM], struct err *err) {
	size_t count = 0;
	while (c_first_options[count]) {
		arguments[count] = c_first_options[count];
		count++;
	}
	js_members (name, member, config) {
		struct value value;
		if (count >= ARGUMENTS_ROOM - C_OPTIONS_MAX - 16 || !value_from_json(member, &value))
			return err_set(err, ERR_USAGE, NULL, "the configuration cannot be written as C macros");
		arguments[count] = t1_define(arena, name, value, err);
		if (!arguments[count++])
			return -1;
	}
	arguments[count++] = arena_printf(arena, "%s/%s", folder, c_unit_file);
	arguments[count++] = arena_printf(arena, "%s/%s", folder, c_object_file);
	for (size_t i = 0; kernel->options[i]; i++)
		arguments[count++] = kernel->options[i];
	const char *const last[] = {"-shared", "-Wl,-z,defs",
	                            "-lm",     "-MD",
	                            "-MF",     arena_printf(arena, "%s/%s", tree, rule_file),
	                            "-o",      arena_printf(arena, "%s/%s", tree, c_plugin_file),
	                            NULL};
	memcpy(&arguments[count], last, sizeof last);
	return 0;
}

static int c_plugin_compile(const struct c_kernel *kernel, const struct c_compiler *compiler, const json_t *config,
                            const char *tree, struct built *built, json_t **facts, struct err *err) {
	const char *arguments[ARGUMENTS_ROOM];
	struct arena *arena = arena_new();
	double begun = sys_now(), wall = sys_wall();
	enum c_outcome outcome = C_BROKEN;
	if (arguments_make(kernel, compiler->folder, arena, config, tree, arguments, err) == 0)
		outcome = c_compile(compiler, arguments, tree, built->message, err);
	built->seconds = sys_now() - begun;
	built->status = outcome == C_DONE ? TRIAL_CORRECT : TRIAL_COMPILE;
	if (outcome == C_DONE)
		*facts = c_depend_seen(arena_printf(arena, "%s/%s", tree, rule_file), compiler->cwd, compiler->folder, wall);
	arena_free(arena);
	return outcome == C_BROKEN ? -1 : 0;
}

/* Keeps the folder for later sessions where it is known what the plug-in was made of. */
static int folder_compile(const struct c_kernel *kernel, const struct c_compiler *compiler, const json_t *config,
                          struct build_folder *folder, bool keeps, struct built *built, struct err *err) {
	js_auto json_t *facts = NULL;
	const char *tree = build_folder_tree(folder);
	if (mkdir(tree, 0700))
		return err_set(err, ERR_FAILED, NULL, "cannot make %s: %s", tree, strerror(errno));
	int failed = c_plugin_compile(kernel, compiler, config, tree, built, &facts, err);
	if (facts && keeps)
		build_folder_keep(folder, facts, built->seconds);
	return failed ? -1 : 0;
}

int c_plugin_get(const struct c_kernel *kernel, const struct c_compiler *compiler, const json_t *config,
                 const struct c_place *place, struct built *built, struct err *err) {
	struct build_folder *folder =
		place->finds ? build_cache_find(place->cache, place->key, c_depend_holds, NULL) : NULL;
	built->artefact = folder;
	if (folder) {
		built->found = true;
		built->status = TRIAL_CORRECT;
		built->seconds = build_folder_seconds(folder);
		return 0;
	}
	folder = build_cache_make(place->cache, place->key, err);
	int failed = folder ? folder_compile(kernel, compiler, config, folder, place->keeps, built, err) : -1;
	if (failed || built->status != TRIAL_CORRECT) {
		build_folder_free(folder);
		folder = NULL;
	}
	built->artefact = folder;
	return failed;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "base/proc/proc.h"
#include "base/sys.h"
#include "tuner/spec/c/impl.h"
#include "tuner/worker/client_describe.h"

/* Compiles on the worker's machine, because code for the processor of a node has to be made on that node. */

static const double SPARE_SECONDS = 30, GRACE_SECONDS = 2;
enum { LOG_MAX = 1 << 20 };

static int compile_use(void *ctx, const json_t *answer, struct trial_result *result, struct err *err) {
	(void)ctx;
	return worker_status_read(answer, result, err);
}

/* The worker keeps the end of a program's output, but the first error of a compiler is the useful one: its output goes
 * to a log file. */
static json_t *request_make(const struct c_compiler *compiler, const char *const *argv, const char *log,
                            double seconds) {
	json_t *words =
		json_pack("[s,s,s,s,s]", "/bin/sh", "-c", "log=$1; shift; exec \"$@\" >/dev/null 2>\"$log\"", "sh", log);
	for (; *argv; argv++)
		json_array_append_new(words, json_string(*argv));
	return json_pack("{s:s,s:o,s:s,s:{s:s,s:s},s:i,s:i,s:f}", "op", "program", "argv", words, "cwd", compiler->cwd,
	                 "env", "LC_ALL", "C", "TMPDIR", compiler->folder, "samples", 1, "warmup", 0, "timeout_s", seconds);
}

static void c_first_error(const char *text, char message[256]);

static void message_read(const char *log, const struct trial_result *result, char message[256]) {
	struct err none = {0};
	size_t size;
	char *text = sys_read_file(log, LOG_MAX, &size, &none);
	message[0] = '\0';
	if (text && result->status != TRIAL_TIMEOUT)
		c_first_error(text, message);
	if (!message[0])
		snprintf(message, 256, "the compiler: %.200s",
		         *result->message ? result->message : trial_status_text(result->status));
	free(text);
}

/* The same on the machine of compiler->worker. */
static enum c_outcome c_compile_there(const struct c_compiler *compiler, const char *const *argv, double seconds,
                                      char message[256], struct err *err) {
	char *log = mem_printf("%s/compiler.log", compiler->folder);
	json_t *request = request_make(compiler, argv, log, seconds);
	const struct worker_question question = {
		.request = request, .timeout_s = seconds + SPARE_SECONDS, .grace_s = GRACE_SECONDS, .use = compile_use};
	struct trial_result result = {0};
	enum c_outcome outcome = C_BROKEN;
	if (!request)
		err_set(err, ERR_USAGE, "write it in UTF-8", "the compiler's arguments cannot be sent to a node");
	else if (worker_exchange(compiler->worker, &question, &result, err) == 0)
		outcome = result.status == TRIAL_CORRECT ? C_DONE : C_REFUSED;
	if (outcome == C_REFUSED)
		message_read(log, &result, message);
	trial_result_clear(&result);
	json_decref(request);
	free(log);
	return outcome;
}

static const double COMPILE_SECONDS = 60, STOP_SECONDS = 5;
enum { STDERR_KEEP = 256 << 10, WORDS_MAX = 256 };
static const uint64_t COMPILER_MEMORY = UINT64_C(8) << 30;

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

static const char **command(const struct c_compiler *compiler, const char *const *arguments) {
	const char **words = mem_alloc(WORDS_MAX + 1, sizeof *words);
	size_t count = 0;
	for (size_t i = 0; compiler->words[i] && count < WORDS_MAX; i++)
		words[count++] = compiler->words[i];
	for (size_t i = 0; arguments[i] && count < WORDS_MAX; i++)
		words[count++] = arguments[i];
	return words;
}

static double limit_of(const struct c_compiler *compiler) {
	return compiler->seconds > 0 ? fmin(compiler->seconds, COMPILE_SECONDS) : COMPILE_SECONDS;
}

/* Reads the output to its end, at most for the time limit. */
static enum proc_read finish(struct proc *proc, const struct c_compiler *compiler) {
	double until = sys_now() + limit_of(compiler);
	char *line;
	size_t size;
	for (;;) {
		double left = until - sys_now();
		enum proc_read got = proc_read(proc, left > 0 ? left : 0, compiler->interrupt, &line, &size);
		if (got == PROC_EOF || got == PROC_TIMEOUT || got == PROC_INTERRUPTED)
			return got;
	}
}

enum c_outcome c_compile(const struct c_compiler *compiler, const char *const *arguments, char message[256],
                         struct err *err) {
	char *temporary = mem_printf("TMPDIR=%s", compiler->folder);
	const char *const set[] = {"LC_ALL=C", temporary, NULL};
	const char **argv = command(compiler, arguments);
	const struct proc_spec spec = {
		.argv = argv, .set = set, .cwd = compiler->cwd, .address_space = COMPILER_MEMORY, .stderr_keep = STDERR_KEEP};
	enum c_outcome outcome = C_BROKEN;
	if (compiler->worker) {
		outcome = c_compile_there(compiler, argv, limit_of(compiler), message, err);
		goto done;
	}
	struct proc *proc = proc_start(&spec, err);
	if (!proc) {
		err_hint(err, "install a C compiler, or name one in the environment variable CC");
		goto done;
	}
	enum proc_read end = finish(proc, compiler);
	c_first_error(proc_stderr(proc), message);
	int status = proc_stop(proc, end == PROC_EOF ? STOP_SECONDS : 0);
	outcome = end == PROC_EOF && WIFEXITED(status) && WEXITSTATUS(status) == 0 ? C_DONE : C_REFUSED;
	if (end == PROC_INTERRUPTED) {
		err_set(err, ERR_INTERRUPTED, NULL, "interrupted");
		outcome = C_BROKEN;
	} else if (end == PROC_TIMEOUT) {
		snprintf(message, 256, "the compiler took longer than %.3g s", limit_of(compiler));
	} else if (outcome == C_REFUSED && !message[0]) {
		char text[80];
		proc_status_text(status, text, sizeof text);
		snprintf(message, 256, "the compiler ended: %s", text);
	}
done:
	free(temporary);
	free(argv);
	return outcome;
}

/* The generated parts of a plug-in. Only checked names and numbers of the specification get into them. */

const char c_harness_file[] = "harness.c", c_unit_file[] = "unit.c", c_object_file[] = "harness.o";

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
	fprintf(out, "\t{\"%s\", %s, %zu, %" PRIu64 "u, %s, %d, %d, %a, UINT64_C(%" PRIu64 "), %d, %a, %a, %a},\n", a->name,
	        kinds[a->type->kind], a->type->bytes, a->count, accesses[a->access], a->random, a->output, a->real,
	        a->whole, a->tolerance.given, a->tolerance.absolute, a->tolerance.relative, a->tolerance.share);
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

int c_sources_write(const struct c_kernel *kernel, const char *folder, struct sha256 *sha, struct err *err) {
	int failed = 0;
	for (size_t i = 0; i < sizeof parts / sizeof *parts && !failed; i++) {
		char *text = NULL, *path = mem_printf("%s/%s", folder, parts[i].name);
		size_t size = 0;
		FILE *memory = open_memstream(&text, &size);
		if (memory)
			parts[i].print(memory, kernel);
		failed = memory && fclose(memory) == 0 ? sys_write_file(path, text, size, err)
		                                       : err_set(err, ERR_FAILED, NULL, "out of memory");
		if (!failed)
			sha256_add(sha, text, size);
		free(text);
		free(path);
	}
	return failed;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The generated parts of a plug-in. Only checked names and numbers of the specification get into them. */
#include <config.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/sys.h"
#include "tuner/spec/c/impl.h"

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

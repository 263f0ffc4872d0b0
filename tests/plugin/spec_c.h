/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specifications of functions in C, and a folder and a worker for them. */
#ifndef TESTS_PLUGIN_SPEC_C_H
#define TESTS_PLUGIN_SPEC_C_H
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tests/tap.h"
#include "tuner/spec/c/c.h"

static char folder[] = "/tmp/sweetspot-spec-c-XXXXXX";

#define X                                                                                                              \
	"{\"Name\":\"x\",\"Type\":\"float\",\"MemoryType\":\"Vector\",\"AccessType\":\"ReadOnly\",\"FillType\":"           \
	"\"Random\",\"FillValue\":2,\"Size\":1000}"
#define Y                                                                                                              \
	"{\"Name\":\"y\",\"Type\":\"float\",\"MemoryType\":\"Vector\",\"AccessType\":\"ReadWrite\",\"FillType\":"          \
	"\"Constant\",\"FillValue\":0.5,\"Size\":1000,\"Output\":1}"
#define N "{\"Name\":\"n\",\"Type\":\"int32\",\"MemoryType\":\"Scalar\",\"FillValue\":1000}"
#define A "{\"Name\":\"a\",\"Type\":\"double\",\"MemoryType\":\"Scalar\",\"FillValue\":1.5}"

/* WHAT selects the behaviour of a build, so that each one is a value of a parameter. */
static const char saxpy[] = "#define _GNU_SOURCE\n#include <sched.h>\n#include <string.h>\n"
							"static int helper(int i) { return (int)sizeof(cpu_set_t) ? i : 0; }\n"
							"enum { plain, blocked, rounded, wrong, past, input, broken, crash, nan_, hang };\n"
							"int saxpy(float *y, const float *x, int n, double a) {\n"
							"#if BLOCK == 13\n#error thirteen is not taken\n#endif\n"
							"	if (WHAT == past) y[n] = 1;\n"
							"	if (WHAT == input) ((float *)x)[3] += 1;\n"
							"	if (WHAT == crash) *(volatile int *)0 = 1;\n"
							"	while (WHAT == hang) { __asm__ volatile(\"\"); }\n"
							"	for (int b = 0; b < n; b += BLOCK)\n"
							"		for (int i = b; i < b + BLOCK && i < n; i++)\n"
							"			y[helper(i)] += (float)a * x[i] * (WHAT == rounded ? 1.000001f : 1);\n"
							"	if (WHAT == wrong) y[7] += 1;\n"
							"	if (WHAT == nan_) y[7] = 0.0f / 0.0f;\n"
							"	return 42;\n}\n";

static inline void file_write(const char *name, const char *text) {
	char *path = mem_printf("%s/%s", folder, name);
	struct err err = {0};
	if (sys_write_file(path, text, strlen(text), &err)) {
		printf("Bail out! %s\n", err.what);
		exit(99);
	}
	free(path);
}

/* A specification with these parts of KernelSpecification. */
static inline struct spec *spec_of(const char *parameters, const char *kernel, struct err *err) {
	char *path = mem_printf("%s/spec.json", folder);
	char *text = mem_printf("{\"ConfigurationSpace\":{\"TuningParameters\":[%s],\"Conditions\":[]},"
	                        "\"KernelSpecification\":{\"Language\":\"C\",%s}}",
	                        parameters, kernel);
	file_write("spec.json", text);
	struct spec *spec = spec_load(path, err);
	free(text);
	free(path);
	return spec;
}

#define BLOCKS "{\"Name\":\"BLOCK\",\"Type\":\"int\",\"Values\":\"[1,8,13,64]\",\"Default\":8}"
#define WHATS(first)                                                                                                   \
	"{\"Name\":\"WHAT\",\"Type\":\"string\",\"Values\":\"['plain','rounded','wrong','past','input','crash','nan_',"    \
	"'hang','no_word']\",\"Default\":\"" first "\"}"
#define KERNEL(arguments) "\"KernelName\":\"saxpy\",\"KernelFile\":\"saxpy.c\",\"Arguments\":[" arguments "]"

static inline struct worker *worker_here(void) {
	const char *build = getenv("BUILDDIR");
	char *path = mem_printf("%s/sweetspot-worker", build ? build : ".");
	const struct worker_options options = {.path = path};
	struct worker *worker = worker_new(&options);
	free(path);
	return worker;
}

static inline int trial(struct spec_c *c, const char *what, int block, struct trial_result *result, struct err *err) {
	struct runner runner = spec_c_runner(c);
	json_t *config = json_pack("{s:s,s:i}", "WHAT", what, "BLOCK", block);
	const struct trial_request request = {
		.config = config, .seed = 1, .samples = 3, .timeout_s = strcmp(what, "hang") == 0 ? 1 : 60};
	int failed = runner.run(runner.ctx, &request, result, err);
	json_decref(config);
	return failed;
}

#define VECTOR(rest) "{\"Name\":\"v\",\"MemoryType\":\"Vector\"," rest "}"

static inline struct worker *spec_c_begin(void) {
	if (!mkdtemp(folder)) {
		printf("Bail out! no folder\n");
		exit(99);
	}
	setenv("XDG_CACHE_HOME", folder, 1);
	file_write("saxpy.c", saxpy);
	return worker_here();
}

static inline int spec_c_end(struct worker *worker) {
	worker_free(worker);
	char *line = mem_printf("test \"$(ls %s/sweetspot/build/*-*/tree/reference-* 2>/dev/null)\" = '' && rm -rf %s",
	                        folder, folder);
	ok(system(line) == 0, "no folder of a run stays behind");
	free(line);
	return tap_done();
}

#endif

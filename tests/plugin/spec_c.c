/* SPDX-License-Identifier: GPL-3.0-or-later */
/* C functions of specifications are built, run and compared with the baseline. */
#include <sys/stat.h>

#include "tests/plugin/spec_c.h"

static void check_trial(struct spec_c *c, const char *what, int block, enum trial_status status, const char *message) {
	struct trial_result result = {0};
	struct err err = {0};
	int failed = trial(c, what, block, &result, &err);
	ok(!failed && result.status == status && strstr(result.message, message), "%s, block %d: %s %s", what, block,
	   trial_status_word(status), message);
	if (failed || result.status != status || !strstr(result.message, message))
		printf("# got %s %s%s\n", trial_status_word(result.status), result.message, err.what);
	ok(failed || (result.status == TRIAL_CORRECT) == (result.sample_count == 3 && result.value > 0),
	   "samples where it worked, and only there");
	trial_result_clear(&result);
}

static void check_outcomes(struct worker *worker) {
	struct err err = {0};
	struct spec *spec = spec_of(BLOCKS "," WHATS("plain"), KERNEL(Y "," X "," N "," A), &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	ok(c != NULL, "a specification is taken %s", err.what);
	spec_free(spec);
	if (!c)
		return;
	ok(strlen(spec_c_source(c)) == 71, "a specification has a source");
	check_trial(c, "plain", 8, TRIAL_CORRECT, "");
	check_trial(c, "plain", 64, TRIAL_CORRECT, "");
	check_trial(c, "plain", 1, TRIAL_CORRECT, "");
	check_trial(c, "rounded", 8, TRIAL_CORRECT, "");
	check_trial(c, "wrong", 8, TRIAL_CORRECTNESS, "y[7] is");
	check_trial(c, "nan_", 8, TRIAL_CORRECTNESS, "y[7] is");
	check_trial(c, "past", 8, TRIAL_CORRECTNESS, "it writes past the end of y");
	check_trial(c, "input", 8, TRIAL_CORRECTNESS, "it changes a ReadOnly argument: x");
	check_trial(c, "plain", 13, TRIAL_COMPILE, "saxpy.c:8:2: error: #error thirteen is not taken");
	check_trial(c, "no_word", 8, TRIAL_COMPILE, "no_word");
	check_trial(c, "crash", 8, TRIAL_RUNTIME, "SIGSEGV");
	check_trial(c, "hang", 8, TRIAL_TIMEOUT, "no answer");
	check_trial(c, "plain", 8, TRIAL_CORRECT, "");
	struct trial_result result = {0};
	ok(trial(c, "; }", 8, &result, &err) && err.code == ERR_USAGE, "a value that is no word of C is not built");
	trial_result_clear(&result);
	spec_c_free(c);
}

/* The output that is off by 1 in one of 1000 elements, by the rules of a specification. */
static void check_tolerance(struct worker *worker, const char *rule, enum trial_status status, const char *message) {
	struct err err = {0};
	char *kernel = mem_printf("%s,%s", KERNEL(Y "," X "," N "," A), rule);
	struct spec *spec = spec_of(BLOCKS "," WHATS("plain"), kernel, &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	ok(c != NULL, "a rule of tolerance is taken: %s %s", rule, err.what);
	spec_free(spec);
	free(kernel);
	if (c)
		check_trial(c, "wrong", 8, status, message);
	spec_c_free(c);
}

static void check_tolerances(struct worker *worker) {
	check_tolerance(worker, "\"Tolerance\":1.01", TRIAL_CORRECT, "");
	check_tolerance(worker, "\"Tolerance\":{\"Absolute\":0.9}", TRIAL_CORRECTNESS, "y[7] is");
	check_tolerance(worker, "\"Tolerance\":{\"Relative\":2.1}", TRIAL_CORRECT, "");
	check_tolerance(worker, "\"Tolerance\":{\"Share\":0.001}", TRIAL_CORRECT, "");
	check_tolerance(worker, "\"Tolerance\":{\"Share\":0.0009}", TRIAL_CORRECTNESS, "and 1 of 1000 elements differ");
}

/* Apart from the call, because clang-format stacks macros with arguments between string literals. */
#define TYPES_INT8    VECTOR("\"Type\":\"int8\",\"Size\":5,\"FillValue\":-128")
#define TYPES_UINT16  VECTOR("\"Type\":\"uint16\",\"Size\":\"5\",\"FillType\":\"Random\",\"AccessType\":\"ReadOnly\"")
#define TYPES_INT64   VECTOR("\"Type\":\"int64\",\"Size\":5,\"AccessType\":\"WriteOnly\"")
#define TYPES_UINT64  VECTOR("\"Type\":\"uint64\",\"Size\":5,\"FillType\":\"Random\",\"FillValue\":9007199254740992")
#define TYPES_DOUBLE  VECTOR("\"Type\":\"double\",\"Size\":5,\"FillType\":\"Random\"")
#define TYPES_VECTORS TYPES_INT8 "," TYPES_UINT16 "," TYPES_INT64 "," TYPES_UINT64 "," TYPES_DOUBLE
#define TYPES_SCALARS                                                                                                  \
	"{\"Type\":\"int8\",\"MemoryType\":\"Scalar\",\"FillValue\":-7},"                                                  \
	"{\"Type\":\"int64\",\"MemoryType\":\"Scalar\",\"FillValue\":-9223372036854775807},"                               \
	"{\"Type\":\"uint64\",\"MemoryType\":\"Scalar\",\"FillValue\":9223372036854775807},"                               \
	"{\"Type\":\"float\",\"MemoryType\":\"Scalar\",\"FillValue\":0.1}"

static void check_types(struct worker *worker) {
	file_write(
		"types.c",
		"#include <stdint.h>\nvoid types(int8_t *a, uint16_t *b, long long *c, uint64_t *d, double *e, int8_t f,\n"
		" int64_t g, uint64_t h, float i) {\n"
		"	for (int k = 0; k < 5; k++) {\n"
		"		c[k] = a[k] + b[k] + f + g; d[k] += h; e[k] += i; a[k] = STEP > 1 ? -1 : (int8_t)-STEP;\n"
		"	}\n}\n");
	struct err err = {0};
	struct spec *spec = spec_of(
		"{\"Name\":\"STEP\",\"Type\":\"int\",\"Values\":\"[1,2,3]\"}",
		"\"KernelName\":\"types\",\"KernelFile\":\"types.c\",\"CompilerOptions\":[\"-O2\",\"-fopenmp\",\"-I\",\".\"],"
		"\"Arguments\":[" TYPES_VECTORS "," TYPES_SCALARS "]",
		&err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	ok(c != NULL, "all types are accepted %s", err.what);
	for (int step = 1; c && step <= 3; step++) {
		struct runner runner = spec_c_runner(c);
		struct trial_result result = {0};
		json_t *config = json_pack("{s:i}", "STEP", step);
		const struct trial_request request = {.config = config, .seed = 7, .samples = 1, .timeout_s = 60};
		ok(!runner.run(runner.ctx, &request, &result, &err) && result.status == TRIAL_CORRECT,
		   "step %d is correct %s%s", step, result.message, err.what);
		trial_result_clear(&result);
		json_decref(config);
	}
	spec_c_free(c);
	spec_free(spec);
}

/* Checks the text of each macro as the compiler sees it. */
/* The only configuration of a specification works. */
static void check_works(struct worker *worker, const char *parameters, const char *kernel, const char *label) {
	struct err err = {0};
	struct spec *spec = spec_of(parameters, kernel, &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	struct trial_result result = {0};
	ok(c != NULL, "a specification with %s is taken %s", label, err.what);
	if (c) {
		struct runner runner = spec_c_runner(c);
		json_t *config = space_config_json(spec_space(spec), 0);
		const struct trial_request request = {.config = config, .seed = 1, .samples = 1, .timeout_s = 60};
		ok(!runner.run(runner.ctx, &request, &result, &err) && result.status == TRIAL_CORRECT,
		   "a function with %s works %s%s", label, err.what, result.message);
		json_decref(config);
	}
	trial_result_clear(&result);
	spec_c_free(c);
	spec_free(spec);
}

static void check_macros(struct worker *worker) {
	file_write("macros.c", "#define TEXT(x) #x\n#define AS_TEXT(x) TEXT(x)\n"
	                       "_Static_assert(sizeof AS_TEXT(R) == sizeof \"1.0\" && R / 2 == 0.5, \"a real number\");\n"
	                       "_Static_assert(I - -3 == 0 && B == 1, \"whole numbers\");\n"
	                       "enum { a_word = 7 };\n_Static_assert(W == 7, \"a word\");\n"
	                       "void macros(int *out) { out[0] = I; }\n");
	check_works(
		worker,
		"{\"Name\":\"R\",\"Type\":\"float\",\"Values\":[1.0]},{\"Name\":\"I\",\"Type\":\"int\",\"Values\":[-3]},"
		"{\"Name\":\"B\",\"Type\":\"bool\",\"Values\":\"[True]\"},"
		"{\"Name\":\"W\",\"Type\":\"string\",\"Values\":\"['a_word']\"}",
		"\"KernelName\":\"macros\",\"KernelFile\":\"macros.c\",\"Arguments\":[" VECTOR(
			"\"Type\":\"int\",\"Size\":1") "]",
		"values of all types");
}

static void check_data(struct worker *worker) {
	file_write("data.c",
	           "#include <stdlib.h>\n#include <string.h>\n"
	           "void data(char *text, int *out) { if (memcmp(text, \"raw elements\", 12)) abort(); out[0] = 1; }\n");
	file_write("raw", "raw elements, and more than are needed");
	check_works(worker, "{\"Name\":\"I\",\"Type\":\"int\",\"Values\":[1]}",
	            "\"KernelName\":\"data\",\"KernelFile\":\"data.c\",\"Arguments\":[" VECTOR(
					"\"Type\":\"char\",\"Size\":12,"
					"\"FillType\":\"BinaryRaw\","
					"\"DataSource\":\"raw\"") "," VECTOR("\"Type\":\"int\","
	                                                     "\"Size\":1") "]",
	            "an input from a file");
}

/* Its output is a permutation of its input, another one for each STEP; 7 changes an element. */
static const char turned[] = "void turned(T *y, const T *x, int n) {\n"
							 "	while (HANGS && STEP == 1) { __asm__ volatile(\"\"); }\n"
							 "	for (int i = 0; i < n; i++) y[(STEP == 9 ? i + 1 : i * STEP) % n] = x[i];\n"
							 "	y[500] += STEP == 7;\n}\n";
#define TURNED(type, hangs, of_y)                                                                                      \
	"\"KernelName\":\"turned\",\"KernelFile\":\"turned.c\",\"CompilerOptions\":[\"-DT=" type "\",\"-DHANGS=" hangs     \
	"\"],\"Arguments\":[{\"Name\":\"y\",\"Type\":\"" type "\",\"Size\":1000,\"AccessType\":\"WriteOnly\"" of_y         \
	"},{\"Name\":\"x\",\"Type\":\"" type                                                                               \
	"\",\"Size\":1000,\"AccessType\":\"ReadOnly\",\"FillType\":\"BinaryRaw\",\"DataSource\":\"x.raw\"}," N "]"

/* The trial of one step; message: of a wrong result, NULL where it is right. */
static void check_step(struct worker *worker, const char *kernel, int step, const char *message, const char *label) {
	struct err err = {0};
	struct spec *spec =
		spec_of("{\"Name\":\"STEP\",\"Type\":\"int\",\"Values\":[1,3,7,9],\"Default\":1}", kernel, &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	struct trial_result result = {0};
	json_t *config = json_pack("{s:i}", "STEP", step);
	const struct trial_request request = {.config = config, .seed = 1, .samples = 1, .timeout_s = 20};
	struct runner runner = c ? spec_c_runner(c) : (struct runner){0};
	int failed = c ? runner.run(runner.ctx, &request, &result, &err) : -1;
	ok(!failed && result.status == (message ? TRIAL_CORRECTNESS : TRIAL_CORRECT) &&
	       strstr(result.message, message ? message : ""),
	   "%s: step %d is %s (%s%s)", label, step, message ? "wrong" : "right", result.message, err.what);
	trial_result_clear(&result);
	json_decref(config);
	spec_c_free(c);
	spec_free(spec);
}

static void check_outputs(struct worker *worker) {
	char *path = mem_printf("%s/x.raw", folder);
	int whole[1000];
	for (int i = 0; i < 1000; i++) /* as floats they are numbers, too */
		whole[i] = 0x3f800000 + i * 7919 % 1000 * 4096;
	struct err err = {0};
	ok(!sys_write_file(path, (const char *)whole, sizeof whole, &err), "the input is written %s", err.what);
	free(path);
	file_write("turned.c", turned);
	check_step(worker, TURNED("float", "0", ""), 3, "in the reference", "elements");
	check_step(worker, TURNED("float", "0", ",\"Verify\":\"sum\""), 3, NULL, "a sum");
	check_step(worker, TURNED("float", "0", ",\"Verify\":\"sum\""), 7, "sum(y)[0] is", "a sum");
	check_step(worker, TURNED("int", "0", ",\"Verify\":\"sum\""), 3, NULL, "a sum of whole numbers");
	check_step(worker, TURNED("int", "0", ",\"Verify\":\"sum\""), 7, "sum(y)[0] is", "a sum of whole numbers");
	check_step(worker, TURNED("float", "0", ",\"Verify\":\"sum:2\""), 3, NULL, "two sums");
	check_step(worker, TURNED("float", "0", ",\"Verify\":\"sum:2\""), 9, "sum(y)[", "two sums");
	check_step(worker, TURNED("float", "0", ",\"Verify\":\"sorted\""), 9, NULL, "elements in order");
	check_step(worker, TURNED("int", "0", ",\"Verify\":\"sorted\""), 3, NULL, "whole numbers in order");
	check_step(worker, TURNED("int", "0", ",\"Verify\":\"sorted\""), 7, "sorted(y)[", "whole numbers in order");
	check_step(worker, TURNED("float", "0", ",\"Verify\":\"norm\""), 3, NULL, "a norm");
	check_step(worker, TURNED("float", "0", ",\"Verify\":\"norm\""), 7, "norm(y)[0] is", "a norm");
	check_step(worker, TURNED("float", "0", "") ",\"Verify\":\"sorted\"", 3, NULL, "a rule for all outputs");
	check_step(worker, TURNED("float", "1", ",\"ReferenceFile\":\"x.raw\",\"Verify\":\"sorted\""), 3, NULL,
	           "a baseline that never ends and a file with the elements");
	check_step(worker, TURNED("int", "1", ",\"ReferenceFile\":\"x.raw\""), 3, "but should be",
	           "a baseline that never ends and a file with the elements");
}

/* A slow baseline is measured by the run that makes the reference. */
static void check_once(struct worker *worker) {
	struct err err = {0};
	struct stat file;
	char *path = mem_printf("%s/ran", folder);
	char *source = mem_printf("#include <fcntl.h>\n#include <time.h>\n#include <unistd.h>\n"
	                          "void once(int *y) {\n	struct timespec rest = {0, 600000000};\n"
	                          "	int fd = open(\"%s\", O_WRONLY | O_CREAT | O_APPEND, 0600);\n"
	                          "	*y = write(fd, \"x\", 1) == 1;\n	close(fd);\n	nanosleep(&rest, 0);\n}\n",
	                          path);
	file_write("once.c", source);
	struct spec *spec = spec_of(
		"{\"Name\":\"S\",\"Type\":\"int\",\"Values\":[1,2],\"Default\":1}",
		"\"KernelName\":\"once\",\"KernelFile\":\"once.c\",\"Arguments\":[" VECTOR("\"Type\":\"int\",\"Size\":1") "]",
		&err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	struct trial_result result = {0};
	json_t *config = json_pack("{s:i}", "S", 1);
	const struct trial_request request = {
		.config = config, .seed = 1, .samples = 3, .settles_s = 0.05, .timeout_s = 60};
	struct runner runner = c ? spec_c_runner(c) : (struct runner){0};
	ok(c && !runner.run(runner.ctx, &request, &result, &err) && result.status == TRIAL_CORRECT &&
	       result.sample_count == 1 && result.value >= 0.6,
	   "a slow baseline is measured %s%s", result.message, err.what);
	ok(stat(path, &file) == 0 && file.st_size == 1, "a slow baseline runs once for its time and for the reference");
	trial_result_clear(&result);
	json_decref(config);
	spec_c_free(c);
	spec_free(spec);
	free(source);
	free(path);
}

static void check_step_of(struct spec_c *c, int step, enum trial_status status, const char *message) {
	struct trial_result result = {0};
	struct err err = {0};
	json_t *config = json_pack("{s:i}", "STEP", step);
	const struct trial_request request = {
		.config = config, .seed = 1, .samples = 1, .limit_s = 0.1, .cut_s = 0.1, .left_s = 0.4, .timeout_s = 20};
	struct runner runner = spec_c_runner(c);
	ok(!runner.run(runner.ctx, &request, &result, &err) && result.status == status && strstr(result.message, message),
	   "step %d is %s (%s%s)", step, trial_status_word(status), result.message, err.what);
	ok(json_is_true(json_object_get(result.reply, "unverified")), "nothing is verified");
	if (status == TRIAL_CENSORED)
		ok(result.value > 0.1 && result.value < 0.15, "the baseline gets a third of what is left (%g s)", result.value);
	trial_result_clear(&result);
	json_decref(config);
}

/* Where the baseline takes too long to make the reference, the others are compared with each other. */
static void check_apart(struct worker *worker) {
	struct err err = {0};
	struct spec *spec = spec_of("{\"Name\":\"STEP\",\"Type\":\"int\",\"Values\":[1,3,7,9],\"Default\":1}",
	                            TURNED("int", "1", ""), &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	ok(c != NULL, "a baseline that never ends is taken %s", err.what);
	if (c) {
		check_step_of(c, 1, TRIAL_CENSORED, "");
		check_step_of(c, 3, TRIAL_CORRECT, "");
		check_step_of(c, 9, TRIAL_CORRECTNESS, "in the reference");
		check_step_of(c, 3, TRIAL_CORRECT, "");
	}
	spec_c_free(c);
	spec_free(spec);
}

static struct build_figures figures_of(struct worker *worker, bool rebuild) {
	struct err err = {0};
	struct spec *spec = spec_of(BLOCKS "," WHATS("plain"), KERNEL(Y "," X "," N "," A), &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	struct build_figures figures = {0};
	struct trial_result results[2] = {{0}};
	if (c && rebuild)
		spec_c_rebuild(c);
	ok(c && !trial(c, "plain", 8, &results[0], &err) && !trial(c, "plain", 64, &results[1], &err) &&
	       results[0].status == TRIAL_CORRECT && results[1].status == TRIAL_CORRECT,
	   "two configurations run %s%s%s", err.what, results[0].message, results[1].message);
	if (c)
		figures = builder_figures(spec_c_builder(c));
	trial_result_clear(&results[0]);
	trial_result_clear(&results[1]);
	spec_c_free(c);
	spec_free(spec);
	return figures;
}

/* A later session builds nothing again, unless a file that was compiled has changed. */
static void check_kept(struct worker *worker) {
	char *old = mem_printf("touch -d '10 seconds ago' %s/*.[ch]", folder),
		 *include = mem_printf("#include \"own.h\"\n%s", saxpy);
	file_write("saxpy.c", include);
	file_write("own.h", "");
	struct build_figures figures;
	ok(system(old) == 0 && (figures = figures_of(worker, false)).made == 2, "two plug-ins are built");
	figures = figures_of(worker, false);
	ok(figures.made == 0 && figures.found == 2, "the next session builds no plug-in (%zu, %zu)", figures.made,
	   figures.found);
	figures = figures_of(worker, true);
	ok(figures.made == 2 && figures.found == 0, "all plug-ins are built again where that is wanted (%zu, %zu)",
	   figures.made, figures.found);
	file_write("own.h", "/* another one */");
	ok(system(old) == 0 && (figures = figures_of(worker, false)).made == 2,
	   "all plug-ins are built again where an included file is another one");
	file_write("saxpy.c", saxpy);
	free(include);
	free(old);
}

/* More builds than a worker loads: the worker is replaced, which must not fail. */
static void check_many(struct worker *worker) {
	struct err err = {0};
	struct spec *spec = spec_of("{\"Name\":\"BLOCK\",\"Type\":\"int\",\"Values\":\"list(range(14,84))\"},"
	                            "{\"Name\":\"WHAT\",\"Type\":\"string\",\"Values\":\"['plain']\"}",
	                            KERNEL(Y "," X "," N "," A) ",\"CompilerOptions\":[\"-O0\"]", &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	unsigned before = worker_restarts(worker);
	int right = 0;
	for (int block = 14; c && block < 84; block++) {
		struct trial_result result = {0};
		right += !trial(c, "plain", block, &result, &err) && result.status == TRIAL_CORRECT;
		trial_result_clear(&result);
	}
	ok(right == 70, "70 builds, one after the other (%d) %s", right, err.what);
	ok(worker_restarts(worker) == before, "no worker fell");
	spec_c_free(c);
	spec_free(spec);
}

static void check_example(struct worker *worker) {
	char *path = mem_printf("%s/doc/examples/spec-c/stencil.json", getenv("SRCDIR"));
	struct err err = {0};
	struct spec *spec = spec_load(path, &err);
	struct spec_c *c = spec ? spec_c_new(spec, worker, &err) : NULL;
	ok(c != NULL, "the example is taken %s", err.what);
	const struct space *space = spec_space(spec);
	for (uint64_t i = 0; c && i < space_valid(space); i += 17) {
		struct runner runner = spec_c_runner(c);
		struct trial_result result = {0};
		json_t *config = space_config_json(space, i);
		const struct trial_request request = {.config = config, .seed = 1, .samples = 1, .timeout_s = 60};
		ok(!runner.run(runner.ctx, &request, &result, &err) && result.status == TRIAL_CORRECT,
		   "configuration %d of the example works %s%s", (int)i, result.message, err.what);
		trial_result_clear(&result);
		json_decref(config);
	}
	spec_c_free(c);
	spec_free(spec);
	free(path);
}

int main(void) {
	struct worker *worker = spec_c_begin();
	check_tolerances(worker);
	check_outcomes(worker);
	check_types(worker);
	check_macros(worker);
	check_data(worker);
	check_outputs(worker);
	check_once(worker);
	check_apart(worker);
	check_kept(worker);
	check_many(worker);
	check_example(worker);
	return spec_c_end(worker);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <errno.h>
#include <math.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json/js.h"
#include "base/sys.h"
#include "base/text.h"
#include "tuner/build/cache.h"
#include "tuner/build/compile.h"
#include "tuner/spec/c/c.h"
#include "tuner/spec/c/impl.h"

/* Compiles each configuration to a plug-in, in a folder of the cache for builds. */

struct c_builds {
	struct arena *arena;
	const struct c_kernel *kernel;
	struct c_compiler compiler;
	struct build_cache *cache;
	struct build_folder *folder; /* of the run */
	struct builder *builder;
	struct stat file;     /* the kernel file when it was first read */
	struct sha256 common; /* of everything except the configuration */
	bool keeps, renews;
	char *path; /* of the last plug-in that was asked for */
};

/* The folder of the run is removed at its end: what it holds is made again in no time, and reference outputs may be
 * large. */
static int folder_make(struct c_builds *b, const char *base, struct err *err) {
	char key[SHA256_TEXT];
	sha256_text(b->kernel->file, strlen(b->kernel->file), key);
	b->cache = build_cache_new(base);
	b->folder = build_cache_make(b->cache, key, err);
	if (!b->folder)
		return -1;
	b->compiler.folder = build_folder_tree(b->folder);
	return mkdir(b->compiler.folder, 0700)
	           ? err_set(err, ERR_FAILED, NULL, "cannot make %s: %s", b->compiler.folder, strerror(errno))
	           : 0;
}

/* The harness finds the correct elements that are known beside those of the baseline. */
static int known_link(const struct c_builds *b, struct err *err) {
	for (size_t i = 0; i < b->kernel->argument_count; i++) {
		const char *file = b->kernel->arguments[i].reference;
		if (file && symlink(file, arena_printf(b->arena, "%s/known-%zu.raw", b->compiler.folder, i)))
			return err_set(err, ERR_FAILED, NULL, "cannot link %s: %s", file, strerror(errno));
	}
	return 0;
}

static void words_hash(struct sha256 *sha, const char *const *words) {
	for (; *words; words++)
		toolchain_hash_text(sha, *words);
	toolchain_hash_text(sha, NULL);
}

static void common_hash(struct c_builds *b) {
	struct sha256 *sha = &b->common;
	toolchain_hash_text(sha, b->compiler.cwd);
	words_hash(sha, c_first_options);
	words_hash(sha, b->kernel->options);
	words_hash(sha, b->compiler.words);
	for (size_t i = 0; b->compiler.words[i]; i++)
		toolchain_hash_line(sha, b->compiler.words[i]);
	toolchain_hash_host(sha);
}

static int plugin_make(void *ctx, struct worker *worker, const char *config_text, const json_t *config, double seconds,
                       struct built *built, struct err *err) {
	const struct c_builds *b = ctx;
	struct c_compiler compiler = b->compiler;
	struct sha256 sha = b->common;
	char key[SHA256_TEXT];
	compiler.worker = worker;
	compiler.seconds = seconds;
	toolchain_hash_text(&sha, config_text);
	sha256_end(&sha, key);
	if (c_file_check(b->kernel->file, &b->file, err))
		return -1;
	const struct c_place place = {b->cache, key, .finds = b->keeps && !b->renews, .keeps = b->keeps};
	return c_plugin_get(b->kernel, &compiler, config, &place, built, err);
}

static void c_builds_free(struct c_builds *b);

static struct c_builds *c_builds_new(const struct c_kernel *kernel, const struct c_compiler *compiler, const char *base,
                                     struct worker *worker, struct err *err) {
	struct c_builds *b = mem_alloc(1, sizeof *b);
	const struct build_work work = {.ctx = b, .make = plugin_make, .release = build_folder_release};
	*b = (struct c_builds){.arena = arena_new(), .kernel = kernel, .compiler = *compiler, .keeps = !base};
	sha256_start(&b->common);
	if (stat(kernel->file, &b->file)) {
		err_set(err, ERR_USAGE, NULL, "KernelFile cannot be read");
		goto fail;
	}
	if (folder_make(b, base, err) || known_link(b, err) || c_harness_make(kernel, &b->compiler, &b->common, err))
		goto fail;
	common_hash(b);
	b->builder = builder_new(&work, worker);
	return b;
fail:
	c_builds_free(b);
	return NULL;
}

/* Removes the folder. */
static void c_builds_free(struct c_builds *b) {
	if (!b)
		return;
	builder_free(b->builder);
	build_folder_free(b->folder);
	build_cache_free(b->cache);
	arena_free(b->arena);
	free(b->path);
	free(b);
}

/* A new or an earlier build; left_s as for builder_get. -1 and err where nothing can be built. */
static int c_build_get(struct c_builds *b, const json_t *config, double left_s, struct c_build *build,
                       struct err *err) {
	const struct built *built = builder_get(b->builder, config, left_s, err);
	if (!built)
		return -1;
	*build = (struct c_build){0};
	if (built->status != TRIAL_CORRECT) {
		build->message = built->message;
		return 0;
	}
	free(b->path);
	build->path = b->path = mem_printf("%s/%s", build_folder_tree(built->artefact), c_plugin_file);
	return 0;
}

static const double LEAST_SECONDS = 1e-3, REFERENCE_SHARE = 1. / 3, AT_ONCE = 10; /* AT_ONCE: as in the worker */
enum { KERNEL_FILE_MAX = 16 << 20, REFERENCES_MAX = 16 };

struct spec_c {
	struct arena *arena;
	struct c_kernel kernel;
	struct c_compiler compiler;
	struct c_builds *builds;
	char source[SHA256_TEXT];
	json_t *baseline;
	struct runner worker;
	uint64_t references[REFERENCES_MAX]; /* seeds that have a reference */
	size_t reference_count;
	bool apart; /* the baseline does not end in time: the first that does makes the reference */
};

static const char *const *compiler_words(struct arena *arena) {
	const char *said = getenv("CC");
	char *text = arena_strdup(arena, said && *said ? said : "cc"), *rest = NULL;
	const char **words = arena_alloc(arena, strlen(text) + 2, sizeof *words);
	size_t count = 0;
	for (char *word = strtok_r(text, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
		words[count++] = word;
	if (count == 0)
		words[0] = "cc";
	return words;
}

static int source_hash(struct spec_c *c, const struct spec *spec, struct err *err) {
	size_t size;
	char hash[SHA256_TEXT], *text = sys_read_file(c->kernel.file, KERNEL_FILE_MAX, &size, err);
	if (!text)
		return -1;
	sha256_text(text, size, hash);
	free(text);
	const char *all = arena_printf(c->arena, "%s %s", spec_hash(spec), hash);
	for (size_t i = 0; c->compiler.words[i]; i++)
		all = arena_printf(c->arena, "%s %s", all, c->compiler.words[i]);
	sha256_text(all, strlen(all), c->source);
	return 0;
}

enum { OPTION_LONGEST = 1024 };

/* Accepts options for optimization, warnings, paths and libraries, but none that change the inputs, the output file or
 * the programs that run. */
static bool option_allowed(const char *option) {
	static const char *const starts[] = {"-f",        "-m",    "-O", "-g", "-W",       "-std=",    "-D",
	                                     "-U",        "-I",    "-L", "-l", "-pthread", "-isystem", "--param",
	                                     "-pedantic", "-ansi", "-w", "-q", NULL};
	static const char *const refused[] = {"-fplugin",
	                                      "-fdump",
	                                      "-fsyntax-only",
	                                      "-ffile-prefix",
	                                      "-fprofile-dir",
	                                      "-fauto-profile",
	                                      "-Wl,",
	                                      "-Wa,",
	                                      "-Wp,",
	                                      "-wrapper",
	                                      "-fcallgraph-info",
	                                      "-fpass-plugin",
	                                      "-fopt-info",
	                                      "-fsave-optimization-record",
	                                      "-fdiagnostics",
	                                      "-frecord",
	                                      "-fstack-usage",
	                                      "-ftime-trace",
	                                      "-fcrash",
	                                      "-fmodule",
	                                      NULL};
	bool starts_well = false;
	for (size_t i = 0; starts[i]; i++)
		starts_well = starts_well || strncmp(option, starts[i], strlen(starts[i])) == 0;
	for (size_t i = 0; refused[i]; i++)
		if (strncmp(option, refused[i], strlen(refused[i])) == 0)
			return false;
	return starts_well && strcmp(option, "-o") != 0;
}

/* "-I" "folder" */
static bool takes_next(const char *option) {
	static const char *const words[] = {"-D", "-U", "-I", "-L", "-l", "-isystem", "--param"};
	return text_is_one_of(option, words);
}

static int c_options_read(const json_t *json, struct arena *arena, struct c_kernel *kernel, struct err *err) {
	json_t *array = NULL;
	bool next = false;
	if (json_object_get(json, "CompilerOptions") && js_array(json, "CompilerOptions", C_OPTIONS_MAX, &array, err))
		return -1;
	const char **options = arena_alloc(arena, json_array_size(array) + 1, sizeof *options);
	js_each (item, array) {
		const char *text = json_string_value(item);
		if (!text || strlen(text) > OPTION_LONGEST || !t1_is_plain(text))
			return err_set(err, ERR_USAGE, "give one option per string",
			               "CompilerOptions[%zu] is not a valid compiler option", item_at);
		if (next ? *text == '-' || *text == '@' : !option_allowed(text))
			return err_set(err, ERR_USAGE, "options for optimization and warnings, -D, -I, -L and -l are accepted",
			               "CompilerOptions: \"%.100s\" is not accepted", text);
		next = !next && takes_next(text);
		options[item_at] = arena_strdup(arena, text);
		kernel->openmp = kernel->openmp || strcmp(text, "-fopenmp") == 0 || strncmp(text, "-fopenmp=", 9) == 0;
	}
	kernel->options = options;
	return next ? err_set(err, ERR_USAGE, NULL, "CompilerOptions: the last option lacks its argument") : 0;
}

/* Reads an argument of C, which may have its elements from a file. */
static int filled_read(const json_t *json, size_t at, const char *folder, struct arena *arena,
                       struct c_argument *argument, struct err *err) {
	if (strcmp(js_string_or(json, "FillType", ""), "BinaryRaw") != 0)
		return c_argument_read(json, at, arena, argument, err);
	js_auto json_t *copy = json_copy((json_t *)json);
	struct stat file;
	json_object_del(copy, "FillType");
	json_object_del(copy, "FillValue");
	if (c_argument_read(copy, at, arena, argument, err))
		return -1;
	if (argument->scalar)
		return err_set(err, ERR_USAGE, "give it a Constant", "argument %s: a scalar is not read from a file",
		               argument->name);
	if (c_file_read(json, "DataSource", folder, arena, &argument->file, err) || stat(argument->file, &file))
		return err_prefix(err, "argument %s", argument->name);
	uint64_t size = argument->count * argument->type->bytes;
	return (uint64_t)file.st_size >= size
	           ? 0
	           : err_set(err, ERR_USAGE, "it holds raw elements", "argument %s: DataSource has %lld of %llu bytes",
	                     argument->name, (long long)file.st_size, (unsigned long long)size);
}

static int arguments_read(const json_t *json, const char *folder, struct arena *arena, struct c_kernel *kernel,
                          struct err *err) {
	json_t *array;
	if (js_array(json, "Arguments", C_ARGUMENTS_MAX, &array, err))
		return -1;
	kernel->argument_count = json_array_size(array);
	kernel->arguments = arena_alloc(arena, kernel->argument_count + 1, sizeof *kernel->arguments);
	for (size_t i = 0; i < kernel->argument_count; i++)
		if (filled_read(json_array_get(array, i), i, folder, arena, &kernel->arguments[i], err))
			return -1;
		else if (c_verify_read(json_array_get(array, i), folder, arena, &kernel->arguments[i], err))
			return err_prefix(err, "argument %s", kernel->arguments[i].name);
	if (c_verify_rest(json, arena, kernel->arguments, kernel->argument_count, sizeof *kernel->arguments))
		return err_set(err, ERR_USAGE, "use sum, sorted or norm, or give outputs a ReferenceFile",
		               "Verify is a command, which only CUDA and OpenCL have");
	for (size_t i = 0; i < kernel->argument_count; i++)
		kernel->made = kernel->made || (kernel->arguments[i].output && !kernel->arguments[i].reference);
	if (c_tolerances_read(json, kernel->arguments, kernel->argument_count, sizeof *kernel->arguments, err))
		return -1;
	static const char *const others[] = {"OutputDependsOn", "Metrics"};
	for (size_t i = 0; i < sizeof others / sizeof *others; i++)
		if (json_object_get(json, others[i]))
			return err_set(err, ERR_USAGE, "CUDA and OpenCL have it", "%s is not supported for C", others[i]);
	return c_arguments_check(kernel->arguments, kernel->argument_count, sizeof *kernel->arguments, "use smaller Sizes",
	                         err);
}

static int c_kernel_read(const json_t *json, const char *folder, struct arena *arena, struct c_kernel *kernel,
                         struct err *err) {
	const char *name = NULL;
	*kernel = (struct c_kernel){.openmp = false};
	if (js_string(json, "KernelName", &name, err))
		return err_prefix(err, "KernelSpecification");
	if (!t1_is_name(name))
		return err_set(err, ERR_USAGE, "name the function in KernelFile",
		               "KernelName \"%.60s\" is not a valid C function name", name);
	kernel->name = arena_strdup(arena, name);
	if (c_file_read(json, "KernelFile", folder, arena, &kernel->file, err) ||
	    c_options_read(json, arena, kernel, err) || arguments_read(json, folder, arena, kernel, err))
		return err_prefix(err, "KernelSpecification");
	return 0;
}

/* The specification is copied, because other threads may be reading it. */
static struct spec_c *c_open(const struct spec *spec, struct err *err) {
	struct spec_c *c = mem_alloc(1, sizeof *c);
	c->arena = arena_new();
	c->baseline = json_deep_copy(spec_baseline(spec));
	c->compiler =
		(struct c_compiler){.words = compiler_words(c->arena), .cwd = arena_strdup(c->arena, spec_folder(spec))};
	if (c_kernel_read(spec_kernel(spec), spec_folder(spec), c->arena, &c->kernel, err) ||
	    c_space_check(c->arena, spec_space(spec), c->kernel.name, err) || source_hash(c, spec, err)) {
		spec_c_free(c);
		return NULL;
	}
	return c;
}

static struct spec_c *c_begin(const struct spec *spec, struct worker *worker, const char *folder, struct err *err) {
	struct spec_c *c = c_open(spec, err);
	if (!c)
		return NULL;
	c->worker = worker_runner(worker);
	c->compiler.worker = worker;
	c->builds = c_builds_new(&c->kernel, &c->compiler, folder, worker, err);
	if (c->builds)
		return c;
	spec_c_free(c);
	return NULL;
}

struct spec_c *spec_c_new(const struct spec *spec, struct worker *worker, struct err *err) {
	return c_begin(spec, worker, NULL, err);
}

struct spec_c *spec_c_new_at(const struct spec *spec, struct worker *worker, const char *folder, struct err *err) {
	return c_begin(spec, worker, folder, err);
}

int spec_c_identify(const struct spec *spec, char source[SHA256_TEXT], struct err *err) {
	struct spec_c *c = c_open(spec, err);
	if (!c)
		return -1;
	snprintf(source, SHA256_TEXT, "%s", c->source);
	spec_c_free(c);
	return 0;
}

void spec_c_free(struct spec_c *c) {
	if (!c)
		return;
	c_builds_free(c->builds);
	json_decref(c->baseline);
	arena_free(c->arena);
	free(c);
}

const char *spec_c_source(const struct spec_c *c) {
	return c->source;
}

/* The parameters are compiled into the build, so that only the team size of an OpenMP kernel has to be sent. */
static struct trial_request request_of(const struct spec_c *c, const struct trial_request *request,
                                       const struct c_build *build, json_t *own) {
	struct trial_request of = *request;
	const json_t *threads = c->kernel.openmp ? json_object_get(request->config, "threads") : NULL;
	json_object_set_new(own, "problem", json_pack("{s:s}", "folder", c->builds->compiler.folder));
	json_object_set_new(own, "config", json_object());
	if (json_is_integer(threads))
		json_object_set(json_object_get(own, "config"), "threads", (json_t *)threads);
	of.kernel = "t1";
	of.library = build->path;
	of.problem = json_object_get(own, "problem");
	of.config = json_object_get(own, "config");
	return of;
}

static bool has_reference(const struct spec_c *c, uint64_t seed) {
	bool has = !c->kernel.made;
	for (size_t i = 0; i < c->reference_count; i++)
		has = has || c->references[i] == seed;
	return has;
}

/* The run that makes the reference measures a slow configuration as well as another one would. */
static bool is_measured(const struct trial_request *base, const struct trial_request *trial,
                        const struct trial_result *result) {
	return json_equal(trial->config, base->config) && !trial->counters && trial->settles_s > 0 &&
	       result->sample_count == 1 && result->value >= AT_ONCE * trial->settles_s;
}

/* Runs a configuration whose outputs for this seed become the reference. The baseline may take a third of the time that
 * is left for that, if runs may be ended at all. */
static int reference_run(struct spec_c *c, const struct trial_request *base, struct trial_result *result,
                         struct err *err) {
	struct c_build build;
	if (c_build_get(c->builds, base->config, 0, &build, err))
		return -1;
	if (!build.path) {
		trial_result_fail(result, TRIAL_COMPILE, build.message);
		return 0;
	}
	js_auto json_t *own = json_object();
	struct trial_request request = request_of(c, base, &build, own);
	json_object_set_new((json_t *)request.problem, "reference", json_integer(1));
	request.samples = 1;
	request.warmup = 0;
	request.min_sample_s = 0;
	if (!c->apart)
		request.cut_s = base->cut_s > 0 && base->left_s > 0 ? fmax(base->cut_s, REFERENCE_SHARE * base->left_s) : 0;
	request.limit_s = request.cut_s;
	request.counters = NULL;
	int failed = c->worker.run(c->worker.ctx, &request, result, err);
	if (!failed && result->status == TRIAL_CORRECT)
		c->references[c->reference_count < REFERENCES_MAX ? c->reference_count++ : 0] = base->seed;
	return failed;
}

static int baseline_failed(const struct spec_c *c, const struct trial_result *result, struct err *err) {
	const char *what = result->status == TRIAL_COMPILE ? "does not compile" : trial_status_text(result->status);
	c_baseline_failed(c->baseline, what, result->message, err);
	return result->status != TRIAL_TIMEOUT
	           ? -1
	           : err_hint(err, "it need not end where each output has a ReferenceFile; otherwise give it more time");
}

/* The baseline's outputs are the reference, or those of the trial's own configuration. Returns 1 with the result if
 * that is what the trial is about. */
static int reference_make(struct spec_c *c, const struct trial_request *trial, struct trial_result *out,
                          struct err *err) {
	struct trial_result result = {.value = NAN, .least = NAN};
	struct trial_request base = *trial;
	base.config = c->apart ? trial->config : c->baseline;
	int failed = reference_run(c, &base, &result, err);
	bool ended = !failed && result.status != TRIAL_CORRECT, about = json_equal(trial->config, base.config);
	if (ended && !c->apart && result.status != TRIAL_CENSORED)
		failed = baseline_failed(c, &result, err);
	c->apart = c->apart || (ended && !failed);
	if (!failed && about && (ended || is_measured(&base, trial, &result))) {
		*out = result;
		return 1;
	}
	trial_result_clear(&result);
	return failed || !ended ? failed : reference_make(c, trial, out, err);
}

static int trial_run(struct spec_c *c, const struct trial_request *request, struct trial_result *result,
                     struct err *err) {
	double start = sys_now();
	*result = (struct trial_result){.value = NAN, .least = NAN};
	int made = has_reference(c, request->seed) ? 0 : reference_make(c, request, result, err);
	if (made) {
		result->elapsed_s = sys_now() - start;
		return made < 0 ? -1 : 0;
	}
	double left = request->left_s > 0 ? fmax(request->left_s - (sys_now() - start), LEAST_SECONDS) : 0;
	struct c_build build;
	if (c_build_get(c->builds, request->config, left, &build, err))
		return -1;
	if (!build.path) {
		trial_result_fail(result, TRIAL_COMPILE, build.message);
		result->elapsed_s = sys_now() - start;
		return 0;
	}
	js_auto json_t *own = json_object();
	struct trial_request of = request_of(c, request, &build, own);
	int failed = c->worker.run(c->worker.ctx, &of, result, err);
	result->elapsed_s = sys_now() - start;
	return failed;
}

static int c_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct spec_c *c = ctx;
	int failed = trial_run(c, request, result, err);
	if (!failed && c->apart) /* nobody knows which of two different outputs is right */
		json_object_set_new(result->reply = result->reply ? result->reply : json_object(), "unverified", json_true());
	return failed;
}

void spec_c_rebuild(struct spec_c *c) {
	c->builds->renews = true;
}

struct builder *spec_c_builder(struct spec_c *c) {
	return c->builds->builder;
}

struct runner spec_c_runner(struct spec_c *c) {
	return (struct runner){.ctx = c, .run = c_run};
}

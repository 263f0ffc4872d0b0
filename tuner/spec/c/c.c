/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/spec/c/c.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/json/js.h"
#include "src/base/sha256.h"
#include "src/base/sys.h"
#include "tuner/spec/c/impl.h"

static const double LEAST_SECONDS = 1e-3;
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
	c->compiler.interrupt = worker_interrupt(worker);
	c->compiler.worker = folder ? worker : NULL;
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
	json_object_set_new(own, "problem", json_object());
	json_object_set_new(own, "config", json_object());
	json_object_set_new(json_object_get(own, "problem"), "folder", json_string(c_builds_folder(c->builds)));
	if (json_is_integer(threads))
		json_object_set(json_object_get(own, "config"), "threads", (json_t *)threads);
	of.kernel = "t1";
	of.library = build->path;
	of.problem = json_object_get(own, "problem");
	of.config = json_object_get(own, "config");
	return of;
}

/* The baseline's outputs for this seed are the reference. */
static int reference_make(struct spec_c *c, const struct trial_request *trial, struct err *err) {
	for (size_t i = 0; i < c->reference_count; i++)
		if (c->references[i] == trial->seed)
			return 0;
	struct c_build build;
	if (c_build_get(c->builds, c->baseline, 0, &build, err))
		return -1;
	if (!build.path)
		return c_baseline_failed(c->baseline, "does not compile", build.message, err);
	json_t *own = json_object();
	struct trial_result result = {0};
	struct trial_request base = *trial;
	base.config = c->baseline;
	struct trial_request request = request_of(c, &base, &build, own);
	json_object_set_new((json_t *)request.problem, "reference", json_integer(1));
	request.samples = 1;
	request.warmup = 0;
	request.min_sample_s = request.limit_s = 0;
	request.counters = NULL;
	int failed = c->worker.run(c->worker.ctx, &request, &result, err);
	if (!failed && result.status != TRIAL_CORRECT)
		failed = c_baseline_failed(c->baseline, trial_status_text(result.status), result.message, err);
	if (!failed)
		c->references[c->reference_count < REFERENCES_MAX ? c->reference_count++ : 0] = trial->seed;
	trial_result_clear(&result);
	json_decref(own);
	return failed;
}

static int c_run(void *ctx, const struct trial_request *request, struct trial_result *result, struct err *err) {
	struct spec_c *c = ctx;
	double start = sys_now();
	memset(result, 0, sizeof *result);
	result->value = result->least = NAN;
	if (reference_make(c, request, err))
		return -1;
	double left = request->left_s > 0 ? fmax(request->left_s - (sys_now() - start), LEAST_SECONDS) : 0;
	struct c_build build;
	if (c_build_get(c->builds, request->config, left, &build, err))
		return -1;
	if (!build.path) {
		result->status = TRIAL_COMPILE;
		snprintf(result->message, sizeof result->message, "%s", build.message);
		result->elapsed_s = sys_now() - start;
		return 0;
	}
	json_t *own = json_object();
	struct trial_request of = request_of(c, request, &build, own);
	int failed = c->worker.run(c->worker.ctx, &of, result, err);
	result->elapsed_s = sys_now() - start;
	json_decref(own);
	return failed;
}

void spec_c_rebuild(struct spec_c *c) {
	c_builds_renew(c->builds);
}

struct builder *spec_c_builder(struct spec_c *c) {
	return c_builds_builder(c->builds);
}

struct runner spec_c_runner(struct spec_c *c) {
	return (struct runner){.ctx = c, .run = c_run};
}

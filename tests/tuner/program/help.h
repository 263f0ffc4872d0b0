/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Programs run by a worker, for tests. */
#ifndef TESTS_TUNER_PROGRAM_HELP_H
#define TESTS_TUNER_PROGRAM_HELP_H
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/sys.h"
#include "tests/tap.h"
#include "tuner/program/program.h"
#include "tuner/program/program_impl.h"

#define WORDS(...) ((const char *const[]){__VA_ARGS__, NULL})

struct rig {
	struct worker *worker;
	struct program *program;
	struct trial_result result; /* of the last run */
	struct err err;
};

/* worker: relative to the build folder, or absolute. */
static inline struct rig rig_open(const char *worker, const volatile int *interrupt, struct program_spec spec) {
	const char *build = getenv("BUILDDIR");
	char *path = *worker == '/' ? mem_strdup(worker) : mem_printf("%s/%s", build ? build : ".", worker);
	struct rig rig = {.worker = worker_new(&(struct worker_options){.path = path, .interrupt = interrupt})};
	rig.program = program_new(&spec, rig.worker, &rig.err);
	if (!rig.program)
		printf("# no program: %s\n", rig.err.what);
	free(path);
	return rig;
}

static inline int rig_run(struct rig *rig, const char *config, struct trial_request request) {
	json_t *json = json_loads(config, 0, NULL);
	struct runner runner = rig->program ? program_runner(rig->program) : (struct runner){0};
	trial_result_clear(&rig->result);
	rig->err = (struct err){0};
	request.kernel = "test";
	request.config = json;
	int failed = rig->program ? runner.run(runner.ctx, &request, &rig->result, &rig->err) : -1;
	json_decref(json);
	return failed;
}

/* The word of the status; "error" if the trial could not be run at all. */
static inline const char *rig_status(struct rig *rig, const char *config, int samples) {
	if (rig_run(rig, config, (struct trial_request){.samples = samples, .timeout_s = 100}))
		return "error";
	if (rig->result.status != TRIAL_CORRECT)
		printf("# %s: %s\n", trial_status_word(rig->result.status), rig->result.message);
	return trial_status_word(rig->result.status);
}

static inline void status_is(struct rig *rig, const char *config, int samples, const char *want, const char *what) {
	const char *got = rig_status(rig, config, samples);
	is_text(got, want, what);
}

static inline void rig_close(struct rig *rig) {
	trial_result_clear(&rig->result);
	program_free(rig->program);
	worker_free(rig->worker);
}

static inline char *file_text(const char *path) {
	char *text = sys_read_file(path, 1 << 20, NULL, NULL);
	return text ? text : mem_strdup("(no file)");
}

static inline void file_is(const char *path, const char *want, const char *what) {
	char *text = file_text(path);
	is_text(text, want, what);
	free(text);
}

static inline void file_put(const char *path, const char *text) {
	FILE *file = fopen(path, "w");
	if (!file || fputs(text, file) < 0 || fclose(file))
		printf("Bail out! cannot write %s\n", path);
}

#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* One problem and one configuration of fw, driven as the worker does it. */
#ifndef TESTS_KERNELS_FW_RIG_H
#define TESTS_KERNELS_FW_RIG_H
#include <omp.h>
#include <stdbool.h>
#include <stdlib.h>

#include "kernels/fw/fw.h"
#include "tests/tap.h"

extern const struct ss_kernel kernel_fw;

/* Each variant, and after them each that also works on the rows of the matrix. */
struct fw_form_case {
	const char *name;
	int variant, layout;
};
static const struct fw_form_case fw_forms[] = {
	{"naive", 0, 0},
	{"tiled", 1, 0},
	{"tasks", 2, 0},
	{"tasks_inner", 3, 0},
	{"simd", 4, 0},
	{"inner_loops", 5, 0},
	{"serial", 6, 0},
	{"tiled on rows", 1, 1},
	{"tasks on rows", 2, 1},
	{"tasks_inner on rows", 3, 1},
	{"inner_loops on rows", 5, 1},
};
enum { VARIANTS = 7, NAIVE = 0, TILED = 1, SIMD = 4, INNER_LOOPS = 5, SERIAL = 6, FORMS = 11 };
_Static_assert(sizeof fw_forms / sizeof *fw_forms == FORMS, "");

/* A region for each update of a tile: many of them take long where other work has the processors. */
static inline bool fw_opens_many(int form, int n, int block) {
	return fw_forms[form].variant == INNER_LOOPS && n / block > 4;
}

struct rig {
	struct ss_value problem[4], config[3];
	char message[160];
	struct ss_call call;
	struct fw_input input;
	struct fw_state state;
};

static inline void rig_init(struct rig *rig, int64_t n, int64_t degree, uint64_t seed) {
	*rig = (struct rig){
		.problem = {{.i = n, .r = (double)n}, {.i = degree, .r = (double)degree}, {.w = "int32"}, {.w = "auto"}}};
	rig->call = (struct ss_call){.problem = rig->problem,
	                             .config = rig->config,
	                             .threads = omp_get_max_threads(),
	                             .seed = seed,
	                             .message = rig->message,
	                             .message_size = sizeof rig->message};
}

static inline enum ss_status rig_open(struct rig *rig, int64_t n, int64_t degree, uint64_t seed) {
	rig_init(rig, n, degree, seed);
	return kernel_fw.open(&rig->input, &rig->call);
}

/* For an open problem, too: the graph and the oracle's answer are the same for both types. */
static inline void rig_type(struct rig *rig, enum fw_type type) {
	rig->problem[2] = (struct ss_value){.i = type, .w = type == FW_FLOAT ? "float" : "int32"};
}

static inline void rig_isa(struct rig *rig, const char *isa) {
	rig->problem[3].w = isa;
}

static inline enum ss_status rig_setup(struct rig *rig, int form, int block) {
	int variant = fw_forms[form].variant, layout = fw_forms[form].layout;
	rig->config[0] = (struct ss_value){.i = variant, .w = fw_forms[variant].name};
	rig->config[1] = (struct ss_value){.i = block, .r = block};
	rig->config[2] = (struct ss_value){.i = layout, .w = layout ? "rows" : "tiles"};
	rig->message[0] = '\0';
	rig->state = (struct fw_state){0};
	return kernel_fw.setup(&rig->state, &rig->input, &rig->call);
}

static inline void rig_teardown(struct rig *rig) {
	kernel_fw.teardown(&rig->state);
}

static inline enum ss_status rig_run(struct rig *rig) {
	enum ss_status status = kernel_fw.run(&rig->state, &rig->call);
	return status == SS_OK ? kernel_fw.verify(&rig->state, &rig->call) : status;
}

/* Twice with a reset between, as a measurement does. */
static inline bool rig_right(struct rig *rig, int form, int block) {
	enum ss_status status = rig_setup(rig, form, block);
	for (int pass = 0; status == SS_OK && pass < (rig->input.n < 500 ? 2 : 1); pass++) {
		kernel_fw.reset(&rig->state, &rig->call);
		status = rig_run(rig);
	}
	rig_teardown(rig);
	if (status != SS_OK)
		printf("# %s, block %d, %s, %s: status %d, %s\n", fw_forms[form].name, block, rig->problem[2].w,
		       rig->problem[3].w, (int)status, rig->message);
	return status == SS_OK;
}

#endif

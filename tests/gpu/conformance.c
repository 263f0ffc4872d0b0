/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Requirements on every kernel for a GPU, whoever wrote it: right answers from every variant, in its first, last and
 * random configurations on small and odd sizes, with two states alive, run after run; a clean refusal when memory
 * ends; and all memory released. Without a GPU it runs in the emulator, with threads in several orders. */
#include "base/rng.h"
#include "tests/gpu/device.h"
#include "tests/gpu/grid.h"
#include "tests/gpu/memory.h"
#include "tests/kernels/sanitized.h"
#include "tests/tap.h"

enum { RANDOM = 2, CONFIGS = 2 + RANDOM };
static const char *const seeds[] = {"0", "1", "2"};

static void print_config(const struct live *live, int s, const char *what, enum ss_status status) {
	const char *seed = getenv("SWEETSPOT_EMULATED_SEED");
	printf("# %s: status %d: %s; seed %s;", what, (int)status, live->message, seed ? seed : "-");
	for (int i = 0; live->kernel->problem[i].name; i++)
		printf(" %s=%s%lld", live->kernel->problem[i].name, live->kernel->problem[i].type == SS_WORD ? "#" : "",
		       (long long)live->problem[i].i);
	printf(":");
	for (int i = 0; live->kernel->params[i].name; i++)
		printf(" %s=%s%lld", live->kernel->params[i].name, live->kernel->params[i].type == SS_WORD ? "#" : "",
		       (long long)live->state[s].config[i].i);
	printf("\n");
}

static bool step(struct live *live, int s, const char *what, enum ss_status (*hook)(struct live *, int)) {
	enum ss_status status = hook(live, s);
	if (status != SS_OK)
		print_config(live, s, what, status);
	return status == SS_OK;
}

/* A configuration that this device cannot run is refused with a reason. */
static bool refused(struct live *live, int s, bool *sane) {
	enum ss_status status = live_setup(live, s);
	bool fine = status == SS_OK || (status == SS_INVALID && live->message[0]);
	if (status != SS_OK)
		print_config(live, s, fine ? "refused" : "setup", status);
	*sane &= fine;
	return status != SS_OK;
}

/* Two states at once, each run again after the other has run if rounds is 2. */
static bool pair_right(struct live *live, int rounds, int *right) {
	bool sane = true, absent[LIVE_STATES];
	for (int s = 0; s < LIVE_STATES; s++)
		absent[s] = refused(live, s, &sane);
	for (int round = 0; sane && round < rounds; round++) {
		for (int s = 0; s < LIVE_STATES; s++)
			sane &= absent[s] || step(live, s, "run", live_run);
		for (int s = 0; s < LIVE_STATES; s++)
			sane &= absent[s] || step(live, s, "verify", live_verify);
	}
	for (int s = 0; s < LIVE_STATES; s++) {
		*right += !absent[s] && sane;
		live_teardown(live, s);
	}
	return sane;
}

/* Every variant, or all there is where none is called so. */
static const char *variant_word(const struct ss_kernel *kernel, int v, char *only, size_t size) {
	int p = live_find(kernel->params, "variant");
	static struct values values;
	only[0] = '\0';
	if (p < 0)
		return v == 0 ? "" : NULL;
	values_parse(&kernel->params[p], &values);
	if (v >= values.count)
		return NULL;
	snprintf(only, size, "variant == '%s'", values.value[v].w);
	return values.value[v].w;
}

static bool configs_right(struct live *live, const struct grid *grid, struct rng *rng, int *right) {
	uint64_t valid = space_valid(grid->space), index[CONFIGS] = {0, valid - 1};
	size_t orders = device_is_emulated() ? sizeof seeds / sizeof *seeds : 1;
	bool sane = true;
	for (int i = 2; i < CONFIGS; i++)
		index[i] = rng_below(rng, valid);
	for (int i = 0; sane && i < CONFIGS; i += LIVE_STATES) {
		for (int s = 0; s < LIVE_STATES; s++)
			grid_config(grid, index[i + s], live->state[s].config);
		for (size_t seed = 0; sane && seed < orders; seed++) {
			setenv("SWEETSPOT_EMULATED_SEED", seeds[seed], 1);
			/* The order depends on the seed alone, so the others need not run again to meet it. */
			sane = pair_right(live, seed == 0 ? 2 : 1, right);
		}
	}
	unsetenv("SWEETSPOT_EMULATED_SEED");
	return sane;
}

/* Parts of the problem that are words: any. */
static void choose_words(struct live *live, struct rng *rng) {
	for (int i = 0; live->kernel->problem[i].name; i++) {
		static struct values values;
		const struct ss_param *part = &live->kernel->problem[i];
		if (part->type == SS_WORD && values_parse(part, &values))
			live->problem[i] = live_value(part, values.value[rng_below(rng, (uint64_t)values.count)].w);
	}
}

/* How often each variant was right is added to rights. */
static void check_problem(const struct ss_kernel *kernel, struct gpu *gpu, const char *n, bool words, int *rights) {
	struct live *live = live_new(kernel);
	struct rng rng;
	char only[128];
	const char *word;
	rng_split(&rng, 1, n);
	live->gpu = gpu;
	live_problem(live, "n", n);
	live_problem(live, "steps", "9");
	live_problem(live, "generations", "5");
	if (words) {
		choose_words(live, &rng);
		live_problem(live, "coords", "2");
	}
	enum ss_status status = live_open(live);
	bool refusal = status == SS_INVALID && live->message[0];
	if (status != SS_OK)
		print_config(live, 0, "open", status);
	ok(status == SS_OK || refusal, "%s n=%s%s opens or is refused", kernel->name, n, words ? ", other words," : "");
	for (int v = 0; status == SS_OK && (word = variant_word(kernel, v, only, sizeof only)); v++) {
		struct err err = {0};
		struct grid *grid = grid_new(kernel, live->problem, only[0] ? only : NULL, &err);
		int right = 0;
		if (grid)
			ok(configs_right(live, grid, &rng, &right), "%s %s n=%s is right wherever it is not refused", kernel->name,
			   word, n);
		else
			printf("# %s %s n=%s: %s\n", kernel->name, word, n, err.what);
		rights[v] += right;
		grid_free(grid);
	}
	live_free(live);
}

/* On a device that holds next to nothing. */
static void check_starved(const struct ss_kernel *kernel, struct gpu *gpu, const char *bytes) {
	struct live *live = live_new(kernel);
	live->gpu = gpu;
	live_problem(live, "n", "255");
	setenv("SWEETSPOT_EMULATED_MEMORY", bytes, 1);
	enum ss_status status = live_open(live);
	if (status == SS_OK)
		status = live_setup(live, 0);
	if (status == SS_OK)
		status = live_run(live, 0);
	live_teardown(live, 0);
	live_free(live);
	unsetenv("SWEETSPOT_EMULATED_MEMORY");
	ok(status == SS_OK || status == SS_NOMEM || status == SS_INVALID, "%s on a device of %s bytes: status %d",
	   kernel->name, bytes, (int)status);
	ok(gpu_failed(gpu, (char[8]){0}, 8) == GPU_FINE, "%s has told all failures", kernel->name);
}

/* A real driver keeps room for the code that was loaded. */
enum { MODULES_SIZE = 64 << 20 };

static void check_kernel(const struct ss_kernel *kernel, struct gpu *gpu) {
	static const char *const sizes[] = {"1", "3", "17", "64", "65"};
	size_t before = gpu_memory_free(gpu);
	int rights[VALUES_MAX] = {0};
	char only[128];
	const char *word;
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		check_problem(kernel, gpu, sizes[i], i % 2, rights);
	for (int v = 0; (word = variant_word(kernel, v, only, sizeof only)); v++)
		ok(rights[v] > 0, "%s %s is not always refused", kernel->name, word);
	if (device_is_emulated())
		check_starved(kernel, gpu, "4096");
	if (device_is_emulated())
		check_starved(kernel, gpu, "100000");
	size_t after = gpu_memory_free(gpu);
	ok(device_is_emulated() ? after == before : after + MODULES_SIZE > before,
	   "%s gives back all memory (%zu bytes free, then %zu)", kernel->name, before, after);
}

int main(int argc, char **argv) {
	struct err err = {0};
	struct gpu *gpu = device_get(argv, true, &err);
	int kernels = 0;
	if (!gpu) {
		tap_skip("kernels for a GPU", err.what);
		return tap_done();
	}
	printf("# on %s\n", gpu_facts(gpu)->name);
	for (const struct kernel_entry *entry = kernel_registry; entry->kernel; entry++) {
		bool wanted = argc < 2 || strcmp(entry->kernel->name, argv[1]) == 0;
		if (!wanted || strcmp(kernel_device(entry->kernel), "cuda") != 0)
			continue;
		check_kernel(entry->kernel, gpu);
		kernels++;
	}
	ok(kernels > 0, "%d kernels for a GPU", kernels);
	gpu_close(gpu);
	return tap_done();
}

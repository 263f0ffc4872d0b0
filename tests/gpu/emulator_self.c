/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The emulator, of which every other result without a GPU depends: right results of known kernels in several orders,
 * and mistakes that are seen. Through our own layer, so that both are tried. */
#include <fcntl.h>
#include <sys/wait.h>

#include "base/sys.h"
#include "tests/gpu/device.h"
#include "tests/tap.h"

enum { N = 1000, SIDE = 45, SIDES = SIDE * SIDE };

struct rig {
	struct gpu *gpu;
	const struct gpu_module *module;
	gpu_ptr in, out, barrier;
	int host_in[SIDES], host_out[SIDES];
};

static struct rig rig;

static const struct gpu_module *load(const char *option) {
	struct err err = {0};
	struct gpu_defines defines = {.count = 0};
	const char *options[] = {option, NULL};
	char path[1024];
	snprintf(path, sizeof path, "%s/tests/gpu/emulator/self.cu", getenv("SRCDIR") ? getenv("SRCDIR") : "..");
	char *text = sys_read_file(path, 1 << 20, NULL, &err);
	const struct gpu_module *module = NULL;
	if (text)
		module = gpu_module_text(rig.gpu, "self.cu", text, option ? options : NULL, &defines);
	free(text);
	return module;
}

static bool rig_open(char **argv, struct err *err) {
	rig.gpu = device_get(argv, false, err);
	if (!rig.gpu)
		return false;
	rig.module = load(NULL);
	rig.in = gpu_alloc(rig.gpu, sizeof rig.host_in);
	rig.out = gpu_alloc(rig.gpu, sizeof rig.host_out);
	rig.barrier = gpu_alloc(rig.gpu, sizeof(unsigned));
	for (int i = 0; i < SIDES; i++)
		rig.host_in[i] = i * 7 % 31 - 9;
	gpu_upload(rig.gpu, rig.in, rig.host_in, sizeof rig.host_in);
	gpu_fill8(rig.gpu, rig.out, 0, sizeof rig.host_out);
	gpu_fill8(rig.gpu, rig.barrier, 0, sizeof(unsigned));
	return true;
}

static void launch(const char *name, const struct gpu_shape *shape, void *const *arguments) {
	gpu_launch(rig.gpu, gpu_function(rig.gpu, rig.module, name), shape, arguments);
}
#define RUN(name, shape, ...) launch(name, &(struct gpu_shape)shape, (void *[]){__VA_ARGS__, NULL})
#define SHAPE(...)                                                                                                     \
	{ __VA_ARGS__ }

static const int *result(void) {
	gpu_download(rig.gpu, rig.host_out, rig.out, sizeof rig.host_out);
	return rig.host_out;
}

static bool fine(void) {
	char message[256] = "";
	enum gpu_failure failure = gpu_failed(rig.gpu, message, sizeof message);
	if (failure != GPU_FINE)
		printf("# %s\n", message);
	return failure == GPU_FINE;
}

static bool reduces(void) {
	int n = N, sum = 0;
	gpu_fill8(rig.gpu, rig.out, 0, sizeof(int));
	RUN("reduce", SHAPE(.grid = {gpu_blocks(N, 256)}, .block = {256}, .shared = 1024), &rig.in, &rig.out, &n);
	for (int i = 0; i < N; i++)
		sum += rig.host_in[i];
	return result()[0] == sum;
}

static bool transposes(void) {
	int n = SIDE;
	bool right = true;
	RUN("transpose", SHAPE(.grid = {3, 3}, .block = {16, 16}, .shared = 16 * 17 * sizeof(int)), &rig.in, &rig.out, &n);
	const int *out = result();
	for (int i = 0; i < SIDES; i++)
		right &= out[i % SIDE * SIDE + i / SIDE] == rig.host_in[i];
	return right;
}

static bool scans(void) {
	int n = N, sum = 0;
	bool right = true;
	RUN("scan", SHAPE(.grid = {gpu_blocks(N, 96)}, .block = {96}), &rig.in, &rig.out, &n);
	const int *out = result();
	for (int i = 0; i < N; i++) {
		sum = i % 32 == 0 ? rig.host_in[i] : sum + rig.host_in[i];
		right &= out[i] == sum;
	}
	return right;
}

static bool votes(void) {
	unsigned thirds = 0;
	bool right = true;
	RUN("vote", SHAPE(.block = {32}), &rig.out);
	const int *out = result();
	for (unsigned lane = 0; lane < 32; lane += 3)
		thirds |= 1u << lane;
	for (unsigned lane = 0; lane < 32; lane++) {
		unsigned same = 0;
		for (unsigned other = 0; other < 32; other++)
			same |= (unsigned)(other / 5 == lane / 5) << other;
		right &= (unsigned)out[lane] == thirds && (unsigned)out[32 + lane] == same && out[64 + lane] == 31 &&
		         (unsigned)out[96 + lane] == (lane ^ 3) && out[128 + lane] == 27 &&
		         (unsigned)out[160 + lane] == 2048 + (lane % 2 ? (lane + 1) / 4 * 4 : lane);
	}
	return right;
}

static bool meets(void) {
	int rounds = 5;
	bool right = true;
	RUN("neighbours", SHAPE(.grid = {8}, .block = {64}, .cooperative = true), &rig.in, &rig.out, &rig.barrier, &rounds);
	const int *out = result();
	for (int b = 0; b < 8; b++)
		right &= out[b] == 4000 + (b + 1) % 8;
	gpu_upload(rig.gpu, rig.in, rig.host_in, sizeof rig.host_in);
	return right;
}

static bool unguarded_right(void) {
	bool right = true;
	RUN("unguarded", SHAPE(.block = {64}), &rig.out);
	const int *out = result();
	for (int i = 1; i < 64; i++)
		right &= out[i] == i - 1;
	return right;
}

static void check_orders(void) {
	int caught = 0;
	for (int seed = 0; seed < 8; seed++) {
		char text[8];
		snprintf(text, sizeof text, "%d", seed);
		setenv("SWEETSPOT_EMULATED_SEED", text, 1);
		ok(reduces() && fine(), "a reduction, order %d", seed);
		ok(transposes() && fine(), "a transposition, order %d", seed);
		ok(scans() && fine(), "scans by shuffles, order %d", seed);
		ok(votes() && fine(), "votes, order %d", seed);
		ok(meets() && fine(), "blocks that wait for each other, order %d", seed);
		caught += !unguarded_right();
	}
	ok(caught > 0, "a missing barrier shows in %d of 8 orders", caught);
	unsetenv("SWEETSPOT_EMULATED_SEED");
}

static void is_failure(enum gpu_failure want, const char *what) {
	char message[256] = "";
	gpu_sync(rig.gpu);
	enum gpu_failure got = gpu_failed(rig.gpu, message, sizeof message);
	ok(got == want && message[0], "%s: %s", what, message);
}

static void check_refusals(void) {
	int n = N;
	RUN("reduce", SHAPE(.block = {512}), &rig.in, &rig.out, &n);
	is_failure(GPU_REFUSED, "more threads than the launch bound");
	RUN("scan", SHAPE(.block = {2048}), &rig.in, &rig.out, &n);
	is_failure(GPU_REFUSED, "more threads than a block has");
	RUN("scan", SHAPE(.block = {32}, .shared = 300 << 10), &rig.in, &rig.out, &n);
	is_failure(GPU_REFUSED, "more shared memory than there is");
	RUN("neighbours", SHAPE(.grid = {1000}, .block = {1024}, .cooperative = true), &rig.in, &rig.out, &rig.barrier, &n);
	is_failure(GPU_REFUSED, "more blocks than fit at once");
	gpu_alloc(rig.gpu, (size_t)1 << 40);
	is_failure(GPU_NO_MEMORY, "more memory than there is");
	load("-DWRONG");
	is_failure(GPU_COMPILE, "a source that does not compile");
	ok(reduces() && fine(), "goes on after that");
}

/* Pinned memory is not written before somebody waits. */
static void check_late(void) {
	int *pinned = gpu_pinned_alloc(rig.gpu, sizeof(int));
	if (ok(pinned, "pinned memory")) {
		*pinned = 12345;
		gpu_download(rig.gpu, pinned, rig.in, sizeof(int));
		ok(*pinned == 12345, "a download that was not waited for has not come");
		gpu_sync(rig.gpu);
		ok(*pinned == rig.host_in[0], "a download comes with the wait");
	}
	gpu_pinned_free(rig.gpu, pinned);
}

struct mistake {
	const char *what, *kernel;
	long long index;
};

/* Cases that break the context run in a process of their own. Their messages on stderr do not belong to the test. */
static void check_mistake(char **argv, const struct mistake *mistake) {
	int status = -1;
	fflush(stdout);
	pid_t child = fork();
	if (child == 0) {
		struct err err = {0};
		int nowhere = open("/dev/null", O_WRONLY);
		long long index = mistake->index;
		dup2(nowhere, 2);
		if (!rig_open(argv, &err) || !fine())
			_exit(2);
		RUN(mistake->kernel, SHAPE(.block = {32}), &rig.out, &index);
		gpu_sync(rig.gpu);
		bool seen = gpu_failed(rig.gpu, (char[256]){0}, 256) == GPU_BROKEN;
		_exit(!seen || gpu_failed(rig.gpu, (char[256]){0}, 256) != GPU_BROKEN);
	}
	ok(child > 0 && waitpid(child, &status, 0) == child && status == 0, "%s breaks the context", mistake->what);
}

int main(int argc, char **argv) {
	static const struct mistake mistakes[] = {{"a write behind memory", "store", SIDES + 3},
	                                          {"a write far away", "store", 1LL << 40},
	                                          {"a write before memory", "store", -1},
	                                          {"a divergent barrier", "divergent", 0},
	                                          {"a wait for ever", "forever", 0},
	                                          {"a division by 0", "divide", 0}};
	struct err err = {0};
	(void)argc;
	if (!*EMULATOR_CXX) {
		tap_skip("the emulator", "no g++");
		return tap_done();
	}
	device_sources();
	device_emulated(argv);
	for (size_t i = 0; i < sizeof mistakes / sizeof *mistakes; i++)
		check_mistake(argv, &mistakes[i]);
	if (ok(rig_open(argv, &err) && fine(), "opens: %s", err.what)) {
		check_orders();
		check_late();
		check_refusals();
		gpu_close(rig.gpu);
	}
	return tap_done();
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Memory, modules, launches, streams, graphs and peers of a device, or of the emulated one. */
#include "tests/gpu/device.h"
#include "tests/gpu/layer.h"
#include "tests/gpu/memory.h"

static void check_facts(struct gpu *gpu) {
	const struct gpu_facts *f = gpu_facts(gpu);
	struct gpu_facts looked;
	ok(f->name[0] && f->major >= 3 && f->sms > 0 && f->threads_per_block >= 512 && f->shared_per_block >= 32768 &&
	       f->memory_bytes > 1 << 20,
	   "%s, %d.%d: its facts are sane", f->name, f->major, f->minor);
	ok(gpu_probe(0, &looked) && strcmp(looked.name, f->name) == 0 && looked.sms == f->sms,
	   "the facts are the same without a context");
	ok(gpu_probe(gpu_peers(gpu) - 1, &looked) && !gpu_probe(gpu_peers(gpu), &looked), "there are %d", gpu_peers(gpu));
	ok(gpu_context(gpu) != NULL, "an open GPU has a context");
}

static void check_copies(struct gpu *gpu) {
	enum { SIZE = 70001 };
	unsigned char *from = mem_alloc(SIZE, 1), *to = mem_alloc(SIZE, 1), *pinned = gpu_pinned_alloc(gpu, SIZE);
	gpu_ptr a = gpu_alloc(gpu, SIZE), b = gpu_alloc(gpu, SIZE);
	for (int i = 0; i < SIZE; i++)
		from[i] = (unsigned char)(i * 7 + i / 256);
	gpu_upload(gpu, a, from, SIZE);
	gpu_copy(gpu, b, a, SIZE);
	gpu_download(gpu, to, b, SIZE);
	ok(layer_failed(gpu, GPU_FINE, "") && memcmp(from, to, SIZE) == 0, "up, across and down");
	gpu_download(gpu, pinned, a, SIZE);
	gpu_stream_sync(gpu);
	ok(pinned && memcmp(from, pinned, SIZE) == 0, "down to pinned memory");
	gpu_fill8(gpu, a + 1, 0xA5, 3);
	gpu_fill32(gpu, a + 8, 0x01020304, 2);
	gpu_download(gpu, to, a, 16);
	static const unsigned char filled[] = {0xA5, 0xA5, 0xA5};
	ok(to[0] == from[0] && memcmp(to + 1, filled, 3) == 0 && memcmp(to + 4, from + 4, 4) == 0 && to[8] == 4 &&
	       to[15] == 1,
	   "filled by bytes and by words");
	gpu_upload(gpu, 0, from, 0);
	gpu_free(gpu, 0);
	gpu_pinned_free(gpu, NULL);
	ok(gpu_alloc(gpu, 0) == 0 && layer_failed(gpu, GPU_FINE, ""), "nothing of nothing is fine");
	gpu_free(gpu, a);
	gpu_free(gpu, b);
	gpu_pinned_free(gpu, pinned);
	free(from);
	free(to);
}

static void check_rectangles(struct gpu *gpu) {
	unsigned char host[40 * 30], back[40 * 30];
	gpu_ptr a = gpu_alloc(gpu, 64 * 30), b = gpu_alloc(gpu, 64 * 30);
	for (size_t i = 0; i < sizeof host; i++)
		host[i] = (unsigned char)(i * 11);
	memset(back, 0, sizeof back);
	struct gpu_rectangle up = {a, (uintptr_t)(host + 3), 64, 40, 17, 30}, across = {b + 5, a, 64, 64, 17, 30},
						 down = {(uintptr_t)(back + 3), b + 5, 40, 64, 17, 30};
	gpu_copy_rectangle(gpu, GPU_UP, &up);
	gpu_copy_rectangle(gpu, GPU_ACROSS, &across);
	gpu_copy_rectangle(gpu, GPU_DOWN, &down);
	bool right = true;
	for (int y = 0; y < 30; y++)
		for (int x = 0; x < 40; x++)
			right &= back[40 * y + x] == (x >= 3 && x < 20 ? host[40 * y + x] : 0);
	ok(right && layer_failed(gpu, GPU_FINE, ""), "a rectangle goes there and back and nothing beside it changes");
	gpu_free(gpu, a);
	gpu_free(gpu, b);
}

static void check_memory_ends(struct gpu *gpu) {
	ok(gpu_alloc(gpu, (size_t)1 << 50) == 0 && !gpu_is_fine(gpu), "memory ends");
	ok(gpu_alloc(gpu, 16) == 0, "after a failure nothing is done");
	ok(layer_failed(gpu, GPU_NO_MEMORY, "memory"), "the message says that memory is short");
	gpu_ptr a = gpu_alloc(gpu, 1000);
	ok(a && layer_failed(gpu, GPU_FINE, ""), "the GPU goes on after a reported failure");
	size_t before = gpu_memory_free(gpu);
	gpu_free(gpu, a);
	ok(gpu_memory_free(gpu) >= before, "released memory can be allocated");
	gpu_free(gpu, 12345);
	ok(layer_failed(gpu, GPU_REFUSED, "not allocated"), "memory that was not allocated is not released");
	gpu_ptr b = gpu_alloc(gpu, 1000);
	gpu_free(gpu, b);
	gpu_free(gpu, b);
	ok(layer_failed(gpu, GPU_REFUSED, "not allocated"), "memory is not released twice");
}

static void check_modules(struct gpu *gpu) {
	struct gpu_defines one = {.count = 0}, two = {.count = 0};
	gpu_define(&one, "FACTOR", 3);
	gpu_define(&one, "OTHER", -1);
	gpu_define_word(&two, "OTHER", "-1");
	gpu_define(&two, "FACTOR", 3);
	const struct gpu_module *a = gpu_module_text(gpu, "layer.cu", layer_source, NULL, &one),
							*b = gpu_module_text(gpu, "layer.cu", layer_source, NULL, &two),
							*c = gpu_module_text(gpu, "layer.cu", layer_source, NULL, NULL);
	ok(a && a == b && c && a != c, "the same defines in any order are one module");
	const struct gpu_function *f = gpu_function(gpu, a, "scale");
	ok(f && f == gpu_function(gpu, a, "scale") && gpu_function_facts(f)->threads_max >= 32,
	   "a function is found again");
	ok(!gpu_function(gpu, a, "none") && layer_failed(gpu, GPU_COMPILE, "none"), "one that is not there is not");
	ok(!gpu_module_text(gpu, "bad.cu", "extern \"C\" __global__ void f() { nowhere(); }", NULL, NULL) &&
	       layer_failed(gpu, GPU_COMPILE, "nowhere"),
	   "a failed compilation says why");
	ok(!gpu_function(gpu, NULL, "scale") && layer_failed(gpu, GPU_FINE, ""), "no module, no function, no new failure");
	ok(!gpu_module(gpu, "../x.cu", NULL) && layer_failed(gpu, GPU_COMPILE, "unsafe"), "an unsafe name is refused");
	const struct gpu_module *ours = gpu_module(gpu, "ceiling/cuda/cost.cu", NULL);
	ok(ours && ours == gpu_module(gpu, "ceiling/cuda/cost.cu", NULL), "one of our own sources");
	for (int i = 0; i < GPU_DEFINES_MAX; i++)
		gpu_define(&one, "X", i);
	ok(!gpu_module(gpu, "ceiling/cuda/cost.cu", &one) && layer_failed(gpu, GPU_REFUSED, "too many"),
	   "too many defines");
}

static bool scaled(struct gpu *gpu, const struct gpu_function *scale, int n, int factor) {
	int *host = mem_alloc((size_t)n, sizeof *host), right = 0;
	gpu_ptr from = gpu_alloc(gpu, (size_t)n * 4), to = gpu_alloc(gpu, (size_t)n * 4);
	const struct gpu_shape shape = {.grid = {gpu_blocks((uint64_t)n, 96)}, .block = {96}};
	for (int i = 0; i < n; i++)
		host[i] = i - 5;
	gpu_upload(gpu, from, host, (size_t)n * 4);
	GPU_LAUNCH(gpu, scale, &shape, &to, &from, &n);
	gpu_download(gpu, host, to, (size_t)n * 4);
	for (int i = 0; i < n; i++)
		right += host[i] == factor * (i - 5);
	gpu_free(gpu, from);
	gpu_free(gpu, to);
	free(host);
	return right == n && gpu_is_fine(gpu);
}

static void check_launches(struct gpu *gpu) {
	struct gpu_defines defines = {.count = 0};
	gpu_define(&defines, "FACTOR", 3);
	const struct gpu_function *three =
		gpu_function(gpu, gpu_module_text(gpu, "layer.cu", layer_source, NULL, &defines), "scale");
	ok(scaled(gpu, layer_function(gpu, "scale"), 1, 1) && scaled(gpu, three, 1, 3), "one number");
	ok(scaled(gpu, layer_function(gpu, "scale"), 1000, 1) && scaled(gpu, three, 4097, 3), "many numbers");
}

static void refuse(struct gpu *gpu, const char *name, struct gpu_shape shape, const char *word, const char *what) {
	gpu_ptr memory = gpu_alloc(gpu, 1 << 16);
	int n = 1;
	GPU_LAUNCH(gpu, layer_function(gpu, name), &shape, &memory, &n, &n);
	ok(layer_failed(gpu, GPU_REFUSED, word), "%s", what);
	gpu_free(gpu, memory);
	gpu_sync(gpu);
	ok(layer_failed(gpu, GPU_FINE, ""), "the GPU goes on after a refused launch");
}

static void check_refusals(struct gpu *gpu) {
	const struct gpu_facts *f = gpu_facts(gpu);
	unsigned fit = (unsigned)gpu_blocks_per_sm(gpu, layer_function(gpu, "meet"), 64, 0) * (unsigned)f->sms;
	refuse(gpu, "add", (struct gpu_shape){.block = {(unsigned)f->threads_per_block + 1}}, "threads",
	       "too many threads");
	refuse(gpu, "add", (struct gpu_shape){.block = {65536, 65536, 65536}}, "threads", "far too many threads");
	refuse(gpu, "add", (struct gpu_shape){.block = {1, 1, 65}}, "threads", "too many of them in z");
	refuse(gpu, "add", (struct gpu_shape){.grid = {1, 65536}, .block = {1}}, "grid", "too many blocks");
	refuse(gpu, "add", (struct gpu_shape){.block = {32}, .shared = (unsigned)f->shared_per_block + 1}, "shared",
	       "too much shared memory");
	refuse(gpu, "meet", (struct gpu_shape){.grid = {fit + 1}, .block = {64}, .cooperative = true}, "at once",
	       "too many blocks at once");
	ok(gpu_blocks_per_sm(gpu, layer_function(gpu, "add"), (unsigned)f->threads_per_block + 1, 0) == 0 &&
	       gpu_is_fine(gpu),
	   "asking how many fit does not fail");
}

static void check_shared(struct gpu *gpu) {
	enum { N = 15000 /* 60000 bytes: more than is available without opting in */ };
	int *host = mem_alloc(N, sizeof *host), n = N, right = 0;
	const struct gpu_shape shape = {.block = {128}, .shared = N * sizeof *host};
	if (gpu_facts(gpu)->shared_per_block < (int)shape.shared) {
		tap_skip("much shared memory", "this GPU has less");
		free(host);
		return;
	}
	gpu_ptr data = gpu_alloc(gpu, shape.shared);
	for (int i = 0; i < N; i++)
		host[i] = i;
	gpu_upload(gpu, data, host, shape.shared);
	GPU_LAUNCH(gpu, layer_function(gpu, "reverse"), &shape, &data, &n);
	gpu_download(gpu, host, data, shape.shared);
	for (int i = 0; i < N; i++)
		right += host[i] == N - 1 - i;
	ok(right == N && layer_failed(gpu, GPU_FINE, ""), "more than 48 KiB of shared memory");
	gpu_free(gpu, data);
	free(host);
}

static void check_cooperative(struct gpu *gpu) {
	unsigned counts[3] = {0};
	gpu_ptr memory = gpu_alloc(gpu, sizeof counts), sums = memory + 4;
	const struct gpu_shape shape = {.grid = {(unsigned)gpu_facts(gpu)->sms}, .block = {64}, .cooperative = true};
	unsigned blocks = shape.grid[0];
	gpu_fill8(gpu, memory, 0, sizeof counts);
	GPU_LAUNCH(gpu, layer_function(gpu, "meet"), &shape, &memory, &sums);
	GPU_LAUNCH(gpu, layer_function(gpu, "meet"), &shape, &memory, &sums);
	gpu_download(gpu, counts, memory, sizeof counts);
	ok(layer_failed(gpu, GPU_FINE, "") && counts[1] == 2 * blocks && counts[2] == 3 * blocks * blocks,
	   "%u blocks wait for each other, twice", blocks);
	gpu_free(gpu, memory);
}

static unsigned word_of(struct gpu *gpu, gpu_ptr word) {
	unsigned value = 0;
	gpu_download(gpu, &value, word, sizeof value);
	return value;
}

static void add(struct gpu *gpu, gpu_ptr word, unsigned value, unsigned blocks) {
	const struct gpu_shape shape = {.grid = {blocks}, .block = {32}};
	GPU_LAUNCH(gpu, layer_function(gpu, "add"), &shape, &word, &value);
}

static void check_streams(struct gpu *gpu) {
	struct gpu_stream *other = gpu_stream_new(gpu, true);
	struct gpu_mark *here = gpu_mark_new(gpu), *there = gpu_mark_new(gpu);
	gpu_ptr word = gpu_alloc(gpu, 4), copy = gpu_alloc(gpu, 4);
	bool right = true;
	for (unsigned round = 0; round < 20; round++) {
		gpu_fill32(gpu, word, round, 1);
		gpu_mark(gpu, here);
		gpu_use(gpu, other);
		gpu_wait(gpu, here);
		add(gpu, word, 1000, 3);
		gpu_mark(gpu, there);
		gpu_use(gpu, NULL);
		gpu_wait(gpu, there);
		gpu_copy(gpu, copy, word, 4);
		right &= word_of(gpu, copy) == round + 3000;
	}
	ok(right && layer_failed(gpu, GPU_FINE, ""), "two streams wait for each other's marks");
	gpu_mark_sync(gpu, there);
	double seconds = gpu_elapsed(gpu, here, there);
	ok(seconds >= 0 && seconds < 60, "from mark to mark %g s", seconds);
	gpu_use(gpu, other);
	gpu_stream_free(gpu, other);
	add(gpu, word, 1, 1);
	gpu_sync(gpu);
	ok(layer_failed(gpu, GPU_FINE, ""), "a stream that is freed is not in use any more");
	gpu_mark_free(gpu, here);
	gpu_free(gpu, word);
	gpu_free(gpu, copy);
}

static int64_t launches_of(struct gpu *gpu, unsigned blocks) {
	struct gpu_launched all[8];
	size_t count = gpu_launches(gpu, all, 8);
	for (size_t i = 0; i < count; i++)
		if (strcmp(all[i].function, "add") == 0 && all[i].shape.grid[0] == blocks)
			return all[i].occupancy > 0 && all[i].occupancy <= 1 && all[i].limiter ? all[i].launches : -1;
	return 0;
}

static void check_graphs(struct gpu *gpu) {
	gpu_ptr word = gpu_alloc(gpu, 4);
	gpu_fill32(gpu, word, 0, 1);
	gpu_launches_forget(gpu);
	add(gpu, word, 100, 1);
	gpu_record(gpu);
	add(gpu, word, 1, 1);
	add(gpu, word, 10, 2);
	add(gpu, word, 10, 2);
	struct gpu_graph *graph = gpu_recorded(gpu);
	ok(graph && word_of(gpu, word) == 100, "recorded work does not run");
	ok(launches_of(gpu, 1) == 1 && launches_of(gpu, 2) == 0, "recorded work is not counted");
	for (int i = 0; i < 5; i++)
		gpu_graph_launch(gpu, graph);
	ok(word_of(gpu, word) == 100 + 5 * 41 && layer_failed(gpu, GPU_FINE, ""),
	   "until it is launched, as often as it is");
	ok(launches_of(gpu, 1) == 6 && launches_of(gpu, 2) == 10, "launches of recorded work are counted");
	gpu_launches_forget(gpu);
	struct gpu_launched none;
	ok(gpu_launches(gpu, &none, 1) == 0, "counted launches are forgotten");
	gpu_graph_free(gpu, graph);
	ok(!gpu_recorded(gpu), "nothing was recorded");
	gpu_free(gpu, word);
}

static void check_clock(struct gpu *gpu) {
	gpu_ptr word = gpu_alloc(gpu, 4);
	gpu_fill32(gpu, word, 0, 1);
	gpu_flush_l2(gpu);
	gpu_clock_start(gpu);
	for (int i = 0; i < 10; i++)
		add(gpu, word, 1, 1);
	double seconds = gpu_clock_stop(gpu);
	ok(seconds > 0 && seconds < 60 && word_of(gpu, word) == 10, "ten launches took %g s", seconds);
	struct gpu_health health;
	gpu_health(gpu, &health);
	ok(!(health.sm_mhz <= 0) && !(health.power_w < 0) && !(health.energy_j < 0),
	   "the GPU's health is sane or not known");
	char text[128], small[6];
	ok(strcmp(gpu_throttle_words(0, text, sizeof text), "") == 0, "no throttling gives no words");
	is_text(gpu_throttle_words(0x4 | 0x8, text, sizeof text), "power cap, hardware slowdown", "words of two bits");
	is_text(gpu_throttle_words(0x4, small, sizeof small), "power", "words of throttling are cut to the room");
	gpu_free(gpu, word);
}

static void check_peers(struct gpu *gpu) {
	ok(gpu_peer(gpu, 0) == gpu, "the first peer is itself");
	ok(!gpu_peer(gpu, gpu_peers(gpu)) && layer_failed(gpu, GPU_REFUSED, "GPUs"), "there are not more than there are");
	struct gpu *peer = gpu_peers(gpu) > 1 ? gpu_peer(gpu, 1) : NULL;
	if (gpu_peers(gpu) < 2) {
		tap_skip("between two GPUs", "there is one");
		return;
	}
	gpu_ptr here = gpu_alloc(gpu, 4), there = peer ? gpu_alloc(peer, 4) : 0;
	struct gpu_mark *mark = gpu_mark_new(gpu);
	gpu_fill32(gpu, here, 77, 1);
	gpu_copy_peer(gpu, peer, there, gpu, here, 4);
	gpu_mark(gpu, mark);
	gpu_wait(peer, mark);
	add(peer, there, 3, 1);
	ok(peer && peer == gpu_peer(gpu, 1) && word_of(peer, there) == 80,
	   "a word goes to another GPU, and is changed there");
	gpu_copy_peer(peer, gpu, here, peer, there, 4);
	gpu_sync(peer);
	ok(word_of(gpu, here) == 80 && layer_failed(peer, GPU_FINE, ""), "a word comes back from another GPU");
	ok(gpu_peer(peer, 1) == gpu, "another GPU knows the first one as its own peer");
	gpu_free(peer, there);
	gpu_free(gpu, here);
}

/* A second gpu in the same process, with the same context, reads the first one's code from disk. */
static void check_disk(struct gpu *gpu) {
	struct err err;
	struct gpu *second = gpu_open(0, &err);
	ok(second && layer_function(second, "add") && second->compiler.from_disk == 1 && second->compiler.compiled == 0,
	   "compiled code is read from the disk");
	ok(gpu_compile_seconds(gpu) > 0 && gpu->compiler.compiled > 0, "the first gpu has compiled the code");
	gpu_close(second);
	ok(scaled(gpu, layer_function(gpu, "scale"), 100, 1), "the first one works on");
}

int main(int argc, char **argv) {
	struct err err = {.what = ""};
	(void)argc;
	struct gpu *gpu = device_get(argv, true, &err);
	if (!layer_start())
		return 99;
	if (!gpu) {
		tap_skip("the layer on a device", err.what);
		return layer_end();
	}
	check_facts(gpu);
	check_copies(gpu);
	check_rectangles(gpu);
	check_memory_ends(gpu);
	check_modules(gpu);
	check_launches(gpu);
	check_refusals(gpu);
	check_shared(gpu);
	check_cooperative(gpu);
	check_streams(gpu);
	check_graphs(gpu);
	check_clock(gpu);
	check_peers(gpu);
	check_disk(gpu);
	gpu_close(gpu);
	return layer_end();
}

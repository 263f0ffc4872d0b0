/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Compiling without a GPU: our sources for each architecture, errors in others, and hosts without a driver. */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "gpu/open.h"
#include "base/mem.h"
#include "tests/gpu/compile_only.h"
#include "tests/tap.h"

static const int archs[] = {75, 80, 90, 100};
enum { ARCHS = sizeof archs / sizeof *archs };

static void check_source(const char *source) {
	for (int i = 0; i < ARCHS; i++) {
		struct err err = {.what = ""};
		size_t count = 0, sane = 0;
		struct gpu_compiled *all = gpu_compile_only(source, NULL, archs[i], false, &count, &err);
		for (size_t f = 0; all && f < count; f++)
			sane += strncmp(all[f].name, "ceiling_", 8) == 0 && all[f].facts.registers > 0 &&
			        all[f].facts.registers <= 64 && all[f].facts.spill_bytes == 0 && all[f].facts.threads_max == 1024;
		ok(all && count > 0 && sane == count, "%s for %d: %zu functions without spills %s", source, archs[i], count,
		   err.what);
		free(all);
	}
}

static void file_write(const char *folder, const char *name, const char *text) {
	char *path = mem_printf("%s/kernels/%s", folder, name);
	FILE *file = fopen(path, "w");
	if (file) {
		fputs(text, file);
		fclose(file);
	}
	free(path);
}

/* A kernel that needs more registers than it may have, for ptxas's report. */
static const char greedy[] = "extern \"C\" __global__ void __launch_bounds__(1024, 2) greedy(double *p) {\n"
							 "	double x[64];\n"
							 "#pragma unroll\n"
							 "	for (int i = 0; i < 64; i++) x[i] = p[i * 1024 + threadIdx.x];\n"
							 "	for (int k = 0; k < SIZE; k++)\n"
							 "#pragma unroll\n"
							 "		for (int i = 0; i < 64; i++) x[i] = x[i] * x[(i + 7) & 63] + p[k];\n"
							 "#pragma unroll\n"
							 "	for (int i = 0; i < 64; i++) p[i * 1024 + threadIdx.x] = x[i];\n"
							 "}\n";

static void check_others(const char *folder) {
	struct gpu_defines defines = {.count = 0};
	struct err err = {.what = ""};
	size_t count;
	file_write(folder, "greedy.cu", greedy);
	file_write(folder, "sweetspot.cuh", "");
	struct gpu_compiled *all = gpu_compile_only("greedy.cu", &defines, 90, false, &count, &err);
	ok(!all && err.code == ERR_FAILED && strstr(err.what, "greedy.cu(5)") && strstr(err.what, "SIZE"),
	   "a source without its define does not compile: %s", err.what);
	free(all);
	gpu_define(&defines, "SIZE", 100);
	all = gpu_compile_only("greedy.cu", &defines, 90, false, &count, &err);
	ok(all && count == 1 && strcmp(all->name, "greedy") == 0 && all->facts.registers <= 32 &&
	       all->facts.spill_bytes > 0 && all->facts.local_bytes > 0,
	   "spills are seen: %d bytes", all ? all->facts.spill_bytes : -1);
	free(all);
	struct gpu_compiled *again = gpu_compile_only("greedy.cu", &defines, 90, false, &count, &err);
	ok(again && count == 1 && again->facts.spill_bytes > 0, "spills are seen again in code from the disk");
	free(again);
	all = gpu_compile_only("greedy.cu", &defines, 35, false, &count, &err);
	ok(!all && err.code == ERR_UNAVAILABLE && err.hint[0], "an architecture of old is unavailable: %s", err.what);
	free(all);
}

/* The first function's name; "" and err where it does not compile. */
static const char *compiled_name(const char *source, struct err *err) {
	static char name[COMPILED_NAME];
	size_t count;
	err->what[0] = name[0] = '\0';
	struct gpu_compiled *all = gpu_compile_only(source, NULL, 90, false, &count, err);
	if (all && count > 0)
		snprintf(name, sizeof name, "%s", all->name);
	free(all);
	return name;
}

/* Our own sources include headers from their folder, which are part of the key of the compiled code. */
static void check_headers(const char *folder) {
	struct err err;
	char *sub = mem_printf("%s/kernels/sub", folder), text[40 * (HEADERS_MAX + 1)] = "";
	mkdir(sub, 0700);
	free(sub);
	file_write(folder, "sub/own.cu", "#include \"sweetspot.cuh\"\n# include \"outer.cuh\"\nKERNEL(NAME)\n");
	file_write(folder, "sub/outer.cuh",
	           "#ifndef OUTER\n#define OUTER\n#include \"inner.cuh\"\n#include \"outer.cuh\"\n"
	           "#define KERNEL(name) extern \"C\" __global__ void name(int *p) { *p = 1; }\n#endif\n");
	file_write(folder, "sub/inner.cuh", "#define NAME first\n");
	is_text(compiled_name("sub/own.cu", &err), "first", "headers come from the source's folder");
	file_write(folder, "sub/inner.cuh", "#define NAME second\n");
	is_text(compiled_name("sub/own.cu", &err), "second", "a header that changes is seen");
	file_write(folder, "sub/inner.cuh", "#include \"absent.cuh\"\n");
	ok(!*compiled_name("sub/own.cu", &err) && strstr(err.what, "absent.cuh"), "a missing one is named: %s", err.what);
	file_write(folder, "sub/inner.cuh", "#include \"../greedy.cu\"\n");
	ok(!*compiled_name("sub/own.cu", &err) && strstr(err.what, "unsafe"), "no path leads out: %s", err.what);
	for (int i = 0; i <= HEADERS_MAX; i++) {
		char name[40];
		snprintf(name, sizeof name, "sub/%d.cuh", i);
		file_write(folder, name, "");
		snprintf(text + strlen(text), sizeof text - strlen(text), "#include \"%d.cuh\"\n", i);
	}
	file_write(folder, "sub/inner.cuh", text);
	ok(!*compiled_name("sub/own.cu", &err) && strstr(err.what, "more than"), "there is a limit: %s", err.what);
}

static void check_names(void) {
	static const char *const names[] = {"../etc/passwd", "/etc/passwd", "a/../../b.cu", "", "a b.cu", "none.cu", "x;y"};
	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		struct err err = {.what = ""};
		size_t count;
		struct gpu_compiled *all = gpu_compile_only(names[i], NULL, 90, false, &count, &err);
		ok(!all && err.what[0], "\"%s\" is not a source: %s", names[i], err.what);
		free(all);
	}
}

static void check_defines(void) {
	struct gpu_defines defines = {.count = 0};
	struct err err = {.what = ""};
	size_t count;
	char name[GPU_DEFINE + 1];
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof name, "NAME_%d", i);
		gpu_define(&defines, name, i);
	}
	ok(!gpu_compile_only("greedy.cu", &defines, 90, false, &count, &err) && err.code == ERR_USAGE,
	   "too many defines are refused");
	memset(name, 'a', sizeof name);
	name[GPU_DEFINE] = '\0';
	defines.count = 0;
	gpu_define(&defines, name, 1);
	ok(!gpu_compile_only("greedy.cu", &defines, 90, false, &count, &err) && err.code == ERR_USAGE,
	   "a define with a name that is too long is refused");
}

/* The log of a compiler is text from outside. */
static void check_log(void) {
	static const char *const logs[] = {
		"",
		"\n\n",
		"ptxas info : Compiling entry function '",
		"ptxas info : Compiling entry function 'a' for 'sm_90'\n: Used",
		"ptxas info : Used 99999999999999999999 registers",
		"bytes spill stores\nbytes smem\n",
	};
	for (size_t i = 0; i < sizeof logs / sizeof *logs; i++) {
		size_t count;
		struct gpu_compiled *all = ptxas_read(logs[i], &count);
		ok(all && count <= 1 && (count == 0 || (all->facts.registers == 0 && all->facts.threads_max == 1024)),
		   "log %zu is read", i);
		free(all);
	}
	char *large = mem_alloc(3000, 1);
	memset(large, 'x', 2999);
	memcpy(large, "Compiling entry function '", 26);
	size_t count;
	struct gpu_compiled *all = ptxas_read(large, &count);
	ok(count == 1 && strlen(all->name) == sizeof all->name - 1, "a long name is cut");
	free(all);
	free(large);
}

static void check_device_words(void) {
	static const struct {
		const char *word;
		int index; /* -1: refused */
	} words[] = {{"cuda", 0},     {"cuda:0", 0},   {"cuda:7", 7},
	             {"cpu", -1},     {"cuda:", -1},   {"cuda:-1", -1},
	             {"cuda: 1", -1}, {"cuda:1x", -1}, {"cuda:99999999999999999999", -1},
	             {"", -1},        {"CUDA", -1}};
	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct err err;
		int index, got = gpu_index(words[i].word, &index, &err);
		ok(words[i].index < 0 ? got == -1 && err.code == ERR_USAGE : got == 0 && index == words[i].index, "\"%s\"",
		   words[i].word);
	}
}

static void check_absent(void) {
	struct gpu_part parts[GPU_PARTS];
	struct gpu_facts facts;
	struct err err = {.what = ""};
	for (int part = 0; part < GPU_PARTS; part++)
		gpu_part(part, &parts[part]);
	for (int i = 0; i < GPU_PARTS; i++)
		ok(parts[i].usable ? parts[i].version[0] && parts[i].path[0] : parts[i].reason[0] && parts[i].fix[0],
		   "%s is here, or it is said why not", parts[i].name);
	if (parts[0].usable) {
		tap_skip("no GPU is found without a driver", "there is one");
		return;
	}
	ok(!gpu_probe(0, &facts), "no GPU is found without a driver");
	struct gpu *gpu = gpu_open(0, &err);
	ok(!gpu && err.code == ERR_UNAVAILABLE && err.hint[0], "a GPU can't be opened without a driver: %s", err.what);
	struct gpu_tenants tenants;
	gpu_tenants(0, &tenants);
	ok(tenants.processes == -1 && !tenants.mig, "nothing is known of its users");
	gpu_close(gpu);
}

int main(void) {
	char home[] = "/tmp/sweetspot-compile-XXXXXX";
	char *data = mem_printf("%s/data", getenv("SRCDIR") ? getenv("SRCDIR") : ".");
	if (!mkdtemp(home))
		return 99;
	setenv("XDG_CACHE_HOME", home, 1);
	setenv("SWEETSPOT_DATA", data, 1);
	check_device_words();
	check_log();
	check_absent();
	struct gpu_part parts[GPU_PARTS];
	for (int part = 0; part < GPU_PARTS; part++)
		gpu_part(part, &parts[part]);
	if (parts[1].usable) {
		static const char *const sources[] = {"ceiling/cuda/arithmetic.cu", "ceiling/cuda/memory.cu",
		                                      "ceiling/cuda/shared.cu", "ceiling/cuda/cost.cu"};
		for (size_t i = 0; i < sizeof sources / sizeof *sources; i++)
			check_source(sources[i]);
		check_names();
		char *kernels = mem_printf("%s/kernels", home);
		mkdir(kernels, 0700);
		free(kernels);
		setenv("SWEETSPOT_DATA", home, 1);
		check_others(home);
		check_headers(home);
		check_defines();
	} else {
		tap_skip("our sources compile", parts[1].reason);
	}
	char *command = mem_printf("rm -rf '%s'", home);
	int removed = system(command);
	free(command);
	free(data);
	return tap_done() | (removed != 0);
}

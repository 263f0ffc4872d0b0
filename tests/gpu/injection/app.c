/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Stands in for a CUDA program: loads what CUDA_INJECTION64_PATH names, as the driver does in cuInit, and tells the
 * fake libcupti what "the GPU" has done. Each argument is a word of the list below, in their order. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void *symbol(void *library, const char *name) {
	return library ? dlsym(library, name) : NULL;
}

int main(int argc, char **argv) {
	const char *path = getenv("CUDA_INJECTION64_PATH"), *named = getenv("SWEETSPOT_CUDA_CUPTI");
	int (*begin)(void);
	void (*kernel)(const char *, uint64_t, uint64_t, int, int);
	void (*copy)(int, int, uint64_t, uint64_t, uint64_t);
	void (*set)(uint64_t, uint64_t, uint64_t);
	void (*device)(const char *);
	void (*drop)(size_t);
	void (*launch)(const char *, unsigned);
	void (*capture)(int);
	void (*destroy)(void);
	void (*steal)(void);
	int (*flushed)(void);
	int uses = 1;
	for (int i = 1; i < argc; i++)
		uses = uses && strcmp(argv[i], "none") != 0;
	void *library = uses && path ? dlopen(path, RTLD_NOW) : NULL;
	void *cupti = library && named ? dlopen(named, RTLD_NOW) : NULL;
	if (uses && path && !library)
		fprintf(stderr, "%s\n", dlerror());
	*(void **)&begin = symbol(library, "InitializeInjection");
	*(void **)&kernel = symbol(cupti, "fake_kernel");
	*(void **)&copy = symbol(cupti, "fake_copy");
	*(void **)&set = symbol(cupti, "fake_set");
	*(void **)&device = symbol(cupti, "fake_device");
	*(void **)&drop = symbol(cupti, "fake_drop");
	*(void **)&launch = symbol(cupti, "fake_launch");
	*(void **)&capture = symbol(cupti, "fake_capture");
	*(void **)&destroy = symbol(cupti, "fake_destroy");
	*(void **)&steal = symbol(cupti, "fake_steal");
	*(void **)&flushed = symbol(cupti, "fake_is_flushed");
	if (begin && begin() != 1)
		return 9;
	for (int i = 1; i < argc; i++) {
		const char *word = argv[i];
		if (kernel && strcmp(word, "some") == 0) {
			device("Fake H100");
			copy(1, 0, 1000000, 500000, 1 << 20);
			copy(1, 1, 1500000, 250000, 1 << 20);
			kernel("scale", 2000000, 100000, 64, 256);
			kernel("_ZN4deep3sumIfLi64EEEvPT_PKS1_i", 2100000, 300000, 32, 512);
			kernel("scale", 2200000, 500000, 128, 256);
			set(2900000, 100000, 4096);
			copy(2, 1, 6000000, 1000000, 2 << 20);
		} else if (kernel && strncmp(word, "kernel=", 7) == 0) {
			kernel(word + 7, 8000000, 1000000, 1, 32);
		} else if (kernel && strncmp(word, "many=", 5) == 0) {
			static char names[600][16];
			for (int k = 0; k < atoi(word + 5); k++) {
				snprintf(names[k % 600], 16, "k%d", k % 600);
				kernel(names[k % 600], 10000000 + 100 * (uint64_t)k, 50, 1, 32);
			}
		} else if (launch && strncmp(word, "launch=", 7) == 0) {
			launch(word + 7, 1);
		} else if (launch && strncmp(word, "launches=", 9) == 0) {
			for (int k = 0; k < atoi(word + 9); k++)
				launch("again", 1);
		} else if (launch && strncmp(word, "strips=", 7) == 0) {
			for (int k = 0; k < 3 * atoi(word + 7); k++)
				launch("again", k % 3 == 2 ? 100 : 1);
		} else if (capture && strcmp(word, "capture") == 0) {
			capture(1);
		} else if (capture && strcmp(word, "captured") == 0) {
			capture(0);
		} else if (destroy && strcmp(word, "destroy") == 0) {
			destroy();
		} else if (steal && strcmp(word, "steal") == 0) {
			steal();
		} else if (flushed && strcmp(word, "flushed") == 0) {
			for (int k = 0; k < 3000 && !flushed(); k++)
				usleep(10000);
		} else if (drop && strcmp(word, "drop") == 0) {
			drop(7);
		} else if (strcmp(word, "crash") == 0) {
			signal(SIGSEGV, SIG_DFL);
			raise(SIGSEGV);
		} else if (strcmp(word, "leave") == 0) {
			puts("output");
			fflush(stdout);
			_exit(0);
		} else if (strncmp(word, "status=", 7) == 0) {
			return atoi(word + 7);
		} else if (strncmp(word, "wait=", 5) == 0 && kernel) {
			kernel("waits", 9000000, strtoull(getenv("WAIT") ? getenv("WAIT") : word + 5, NULL, 10), 1, 32);
		} else if (strncmp(word, "forge=", 6) == 0 && getenv("SWEETSPOT_CUDA_RECORD")) {
			char line[4096];
			snprintf(line, sizeof line, "cp '%s' '%s.forged'", word + 6, getenv("SWEETSPOT_CUDA_RECORD"));
			if (system(line) != 0)
				return 8;
		} else if (strcmp(word, "fork") == 0 && fork() == 0) {
			return 0;
		}
	}
	puts("output");
	return 0;
}

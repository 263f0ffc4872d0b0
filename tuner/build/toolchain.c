/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "tuner/build/toolchain.h"

#include <sys/stat.h>

#include "base/mem.h"
#include "base/proc/path.h"
#include "base/sys.h"

/* Variables that compilers, linkers, make and cmake obey. */
static const char *const VARIABLES[] = {
	"PATH",
	"CC",
	"CXX",
	"FC",
	"F77",
	"LD",
	"AR",
	"CFLAGS",
	"CXXFLAGS",
	"CPPFLAGS",
	"FFLAGS",
	"FCFLAGS",
	"LDFLAGS",
	"LDLIBS",
	"LIBS",
	"MAKEFLAGS",
	"CPATH",
	"NVCC",
	"CUDACXX",
	"CUDAFLAGS",
	"CUDA_HOME",
	"CUDA_PATH",
	"LIBRARY_PATH",
	"C_INCLUDE_PATH",
	"COMPILER_PATH",
	"GCC_EXEC_PREFIX",
	"CPLUS_INCLUDE_PATH",
	"LD_LIBRARY_PATH",
	"PKG_CONFIG_PATH",
	"CMAKE_PREFIX_PATH",
	"MPICC",
	"MPICXX",
};

void toolchain_hash_text(struct sha256 *sha, const char *text) {
	sha256_add(sha, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* A compiler that was updated makes another program. */
static void file_add(struct sha256 *sha, const char *path) {
	struct stat info;
	char facts[96];
	if (stat(path, &info) || !S_ISREG(info.st_mode))
		return;
	snprintf(facts, sizeof facts, "%lld %lld.%09ld", (long long)info.st_size, (long long)info.st_mtim.tv_sec,
	         info.st_mtim.tv_nsec);
	toolchain_hash_text(sha, path);
	toolchain_hash_text(sha, facts);
}

static bool is_apart(char c) {
	return strchr(" \t\n;|&()<>'\"`$=,", c);
}

static void word_add(struct sha256 *sha, const char *word) {
	struct err none = {0};
	mem_auto char *path = *word == '/' ? mem_strdup(word) : strchr(word, '/') ? NULL : program_path(word, NULL, &none);
	if (path)
		file_add(sha, path);
}

void toolchain_hash_line(struct sha256 *sha, const char *line) {
	char *word = mem_alloc(strlen(line) + 1, 1);
	bool writes = false;
	for (size_t i = 0, size = 0; i <= strlen(line); i++) {
		if (line[i] && !is_apart(line[i])) {
			word[size++] = line[i];
			continue;
		}
		word[size] = '\0';
		if (size && !writes)
			word_add(sha, word);
		writes = line[i] == '>' || (writes && size == 0);
		size = 0;
	}
	free(word);
}

/* Code for the processor of this machine (-march=native) need not run on another one with the same home folder. */
static void processor_add(struct sha256 *sha) {
	struct err none = {0};
	mem_auto char *text = sys_read_file("/proc/cpuinfo", 1 << 20, NULL, &none);
	static const char *const keys[] = {"model name", "flags", "Features", "CPU part"};
	for (size_t i = 0; text && i < sizeof keys / sizeof *keys; i++) {
		const char *found = strstr(text, keys[i]);
		if (found)
			sha256_add(sha, found, strcspn(found, "\n"));
	}
}

void toolchain_hash_host(struct sha256 *sha) {
	for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
		toolchain_hash_text(sha, VARIABLES[i]);
		toolchain_hash_text(sha, getenv(VARIABLES[i]));
	}
	processor_add(sha);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The inputs of a build command besides the sources. */
#include <config.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "src/base/json/js.h"
#include "src/base/sha256.h"
#include "src/base/sys.h"
#include "tuner/program/build.h"
#include "tuner/program/path.h"

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

static void add(struct sha256 *sha, const char *text) {
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
	add(sha, path);
	add(sha, facts);
}

static bool is_apart(char c) {
	return strchr(" \t\n;|&()<>'\"`$=,", c);
}

static void word_add(struct sha256 *sha, const char *word) {
	struct err none = {0};
	char *path = *word == '/' ? mem_strdup(word) : strchr(word, '/') ? NULL : program_path(word, NULL, &none);
	if (path)
		file_add(sha, path);
	free(path);
}

/* The files that the command names by their absolute paths or that are found in PATH, but not those that it writes. */
static void tools_add(struct sha256 *sha, const char *line) {
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
	char *text = sys_read_file("/proc/cpuinfo", 1 << 20, NULL, &none);
	static const char *const keys[] = {"model name", "flags", "Features", "CPU part"};
	for (size_t i = 0; text && i < sizeof keys / sizeof *keys; i++) {
		const char *found = strstr(text, keys[i]);
		if (found)
			sha256_add(sha, found, strcspn(found, "\n"));
	}
	free(text);
}

void program_build_identity(const struct program *program, const json_t *environment, const json_t *config,
                            char hash[SHA256_TEXT]) {
	const struct program_case one = {program, config, "{BUILD}"};
	const char *missing, *source = program_build_source(program);
	char *line = program_fill(&one, program->spec.build, true, &missing), *variables = js_canonical(environment);
	struct sha256 sha;
	sha256_start(&sha);
	add(&sha, "1");
	add(&sha, source);
	add(&sha, program->out_of_tree ? program->here : NULL);
	add(&sha, line);
	add(&sha, variables);
	for (size_t i = 0; i < sizeof VARIABLES / sizeof *VARIABLES; i++) {
		add(&sha, VARIABLES[i]);
		add(&sha, getenv(VARIABLES[i]));
	}
	tools_add(&sha, line ? line : "");
	processor_add(&sha);
	sha256_end(&sha, hash);
	free(line);
	free(variables);
}

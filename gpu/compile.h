/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiles source for one architecture, through a cache on disk. It does not need a GPU. */
#ifndef GPU_COMPILE_H
#define GPU_COMPILE_H
#include "gpu/library.h"
#include "gpu/open.h"
#include "src/base/sha256.h"

enum {
	COMPILED_NAME = sizeof(((struct gpu_compiled *)0)->name),
	COMPILE_OPTIONS_MAX = 96,
	OPTIONS_OWN = 5 /* room for those that we add */
};

struct compiler {
	struct nvrtc nvrtc;
	double seconds;
	size_t compiled, from_disk, stored;
	char *folder; /* of the cache; NULL: none */
	bool tried;   /* the folder was looked for */
};

struct source {
	const char *name, *text;
	const char *const *options; /* more of them, NULL-terminated or NULL */
	const struct gpu_defines *defines;
	int arch;           /* 75, 80, 90: the device's */
	const char *device; /* HIP's, for whose architecture hiprtc compiles without being told; else NULL */
	bool users;         /* not one of ours: its compiler finds the files that it includes */
	const char *seen;   /* includes_digest of it, or NULL */
	bool unseen;        /* it includes files that the key does not cover, so it is not kept on disk */
};

struct code {
	char *image; /* a cubin, or PTX for a device that is newer than the compiler */
	size_t size;
	struct gpu_compiled *functions;
	size_t count;
};

/* failure is GPU_COMPILE (err: the compiler's first error), or GPU_REFUSED (no such architecture, too many options). */
bool compile_source(struct compiler *compiler, const struct source *source, bool fresh, struct code *code,
                    enum gpu_failure *failure, struct err *err);
void code_free(struct code *code);
/* Lists the options in a fixed order: -DNAME=VALUE alphabetically. -1 if there are too many. */
struct options {
	const char *words[COMPILE_OPTIONS_MAX];
	char defines[GPU_DEFINES_MAX][GPU_DEFINE + 2], arch[48];
	int count;
};
/* arch: "sm_90", .., or NULL for hiprtc. */
int options_make(struct options *options, const struct source *source, const char *arch);

/* source.c: reads one of our .cu files or their headers; free(3) it. */
char *source_read(const char *name, struct err *err);

/* headers.c: sweetspot.cuh, and the files that our own sources include by "NAME", from the folder of that source. */
enum { HEADERS_MAX = 8 };
struct headers {
	int count;
	char *names[HEADERS_MAX], *texts[HEADERS_MAX];
};
bool headers_read(const struct source *source, struct headers *headers, struct err *err);
void headers_free(struct headers *headers);
struct include {
	bool quoted;      /* not in angle brackets: a file, or a macro */
	const char *name; /* inside the text; NULL for a macro */
	size_t length;
};
/* Finds the next #include line and moves *text behind it; false at the end. */
bool include_next(const char **text, struct include *include);
bool include_is_shared(const struct include *include); /* "sweetspot.cuh" */

/* includes.c: "" if a user's source includes no files. False if they cannot be known: the name of one is a macro, they
 * are too many, or one cannot be read. options: those with -I are used; ends with NULL, or is NULL. */
bool includes_digest(const char *text, const char *const *options, char digest[SHA256_TEXT]);

/* ptxas.c: reads functions and their facts from the log of --ptxas-options=-v; an array to free(3). */
struct gpu_compiled *ptxas_read(const char *log, size_t *count);

/* cache.c */
enum { CACHE_KEY = 7 + 64 + 1 };
#define CACHE_BYTES ((uint64_t)256 << 20)
char *cache_folder(void); /* makes a private folder; NULL: none. free(3) it */
bool cache_load(const char *folder, const char *key, struct code *code);
void cache_store(const char *folder, const char *key, const struct code *code);
void cache_remove(const char *folder, const char *key);
void cache_trim(const char *folder, uint64_t bytes); /* the oldest go until the rest is smaller */

#endif

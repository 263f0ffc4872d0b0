/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Shared by the files of this folder, and by the CUDA reader where both languages agree. */
#ifndef TUNER_SPEC_C_IMPL_H
#define TUNER_SPEC_C_IMPL_H

#include "base/hash.h"
#include "base/t1/t1.h"
#include "tuner/build/builder.h"

/* name in the specification, C type, kind, bytes */
#define C_TYPES(X)                                                                                                     \
	X("int8", "signed char", SIGNED, 1)                                                                                \
	X("int16", "short", SIGNED, 2)                                                                                     \
	X("int32", "int", SIGNED, 4)                                                                                       \
	X("int64", "__INT64_TYPE__", SIGNED, 8)                                                                            \
	X("uint8", "unsigned char", UNSIGNED, 1)                                                                           \
	X("uint16", "unsigned short", UNSIGNED, 2)                                                                         \
	X("uint32", "unsigned", UNSIGNED, 4)                                                                               \
	X("uint64", "__UINT64_TYPE__", UNSIGNED, 8)                                                                        \
	X("char", "signed char", SIGNED, 1)                                                                                \
	X("short", "short", SIGNED, 2)                                                                                     \
	X("int", "int", SIGNED, 4)                                                                                         \
	X("uchar", "unsigned char", UNSIGNED, 1)                                                                           \
	X("ushort", "unsigned short", UNSIGNED, 2)                                                                         \
	X("uint", "unsigned", UNSIGNED, 4)                                                                                 \
	X("unsigned", "unsigned", UNSIGNED, 4)                                                                             \
	X("float", "float", REAL, 4)                                                                                       \
	X("float32", "float", REAL, 4)                                                                                     \
	X("double", "double", REAL, 8)                                                                                     \
	X("float64", "double", REAL, 8)

enum c_kind { C_SIGNED, C_UNSIGNED, C_REAL };
enum c_access { C_READ_ONLY, C_WRITE_ONLY, C_READ_WRITE };

struct c_type {
	const char *name, *in_c;
	enum c_kind kind;
	size_t bytes;
};

/* Tolerance: an element may differ by absolute + relative * |reference|; without `given` the language's rule holds. */
struct c_tolerance {
	bool given;
	double absolute, relative, share; /* share: of the elements may be wrong */
};

struct c_argument {
	const char *name;
	const struct c_type *type;
	bool scalar, random, output;
	enum c_access access;
	uint64_t count;
	double real;      /* FillValue of a C_REAL */
	uint64_t whole;   /* FillValue of a whole number, two's complement */
	const char *file; /* absolute: raw elements; NULL: they are filled. Set by the languages' own readers */
	struct c_tolerance tolerance;
	const char *reference; /* absolute: its correct elements; NULL: those of the baseline */
	const char *verify;    /* sum, sum:N, sorted, norm, the worker's word for a command; NULL: elements are compared */
};

struct c_kernel {
	const char *name, *file;    /* file: absolute */
	const char *const *options; /* NULL-terminated */
	bool openmp;
	struct c_argument *arguments;
	size_t argument_count;
	bool made; /* an output has no ReferenceFile */
};

enum { C_ARGUMENTS_MAX = 64, C_OPTIONS_MAX = 64 };

int c_argument_read(const json_t *json, size_t at, struct arena *arena, struct c_argument *argument, struct err *err);
/* A file of raw elements beside the specification, which must exist and have the argument's size. */
int c_raw_file(const json_t *json, const char *key, const char *folder, struct arena *arena,
               const struct c_argument *argument, const char **out, struct err *err);
/* ReferenceFile and Verify of an argument. */
int c_verify_read(const json_t *json, const char *folder, struct arena *arena, struct c_argument *argument,
                  struct err *err);
/* Verify of KernelSpecification, for outputs that have neither of these, in structs of `stride` bytes that begin with a
 * c_argument. Returns a command, or NULL. */
const char *c_verify_rest(const json_t *json, struct arena *arena, struct c_argument *first, size_t count,
                          size_t stride);
/* Sets it for the outputs that do not have one. An argument that is not an output must not have one. */
int c_tolerances_read(const json_t *kernel, struct c_argument *first, size_t count, size_t stride, struct err *err);
/* The absolute path of KernelFile. */
int c_file_read(const json_t *json, const char *key, const char *folder, struct arena *arena, const char **file,
                struct err *err);
/* Every value of every parameter must be valid in a -D, and no parameter may have the kernel's name. */
struct space;
int c_space_check(struct arena *arena, const struct space *space, const char *kernel, struct err *err);
/* The arguments, in structs of `stride` bytes that begin with a c_argument: they must fit in memory twice, for the
 * inputs and the state, and at least one must be an output. */
int c_arguments_check(const struct c_argument *first, size_t count, size_t stride, const char *remedy, struct err *err);
/* Results of two versions must not be mixed: fails where the file is no longer the one that `was` describes. */
struct stat;
int c_file_check(const char *path, const struct stat *was, struct err *err);
/* -1 and err: the other configurations have nothing to be compared with. */
int c_baseline_failed(const json_t *baseline, const char *how, const char *message, struct err *err);

struct c_compiler {
	const char *const *words; /* CC, split */
	const char *folder;       /* for temporary files */
	const char *cwd;          /* the specification's folder: -I is relative to it */
	struct worker *worker;    /* runs it */
	double seconds;           /* limit; 0: a minute */
};

/* Writes the parts of a plug-in into the compiler's folder: header, harness, table of the arguments, and the file that
 * includes the kernel's; adds their texts to the hash, and compiles the harness, which is the same for all. */
int c_harness_make(const struct c_kernel *kernel, const struct c_compiler *compiler, struct sha256 *sha,
                   struct err *err);

struct build_cache;
struct c_place {
	struct build_cache *cache;
	const char *key;
	bool finds, keeps; /* an earlier build is used; this one is kept for later sessions */
};

/* Finds or compiles a configuration. Returns 0 also where it does not compile, with the compiler's message; -1 and err
 * where the compiler could not run. */
extern const char c_plugin_file[], *const c_first_options[];
int c_plugin_get(const struct c_kernel *kernel, const struct c_compiler *compiler, const json_t *config,
                 const struct c_place *place, struct built *built, struct err *err);

/* A configuration, compiled; valid until the next call. */
struct c_build {
	const char *path;    /* of the plug-in; NULL: it failed */
	const char *message; /* why */
};

/* All builds of a run. What is the same for all configurations is in a folder of the run (in `base`; NULL: in the
 * user's cache), which becomes the compiler's. Plug-ins for this machine stay in the cache for later sessions. The
 * kernel, and the compiler's words and cwd, are borrowed, and so is the worker. */
struct c_builds;
#endif

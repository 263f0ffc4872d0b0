/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Code for a GPU that is compiled ahead, by workers of its own, into the cache on disk from which the measuring worker
 * loads it. */
#ifndef TUNER_BUILD_COMPILE_H
#define TUNER_BUILD_COMPILE_H
#include "tuner/build/builder.h"
#include "base/hash.h"

/* Asks a worker to compile (doc/protocol.md); takes ownership of the request. seconds: the limit; 0: a long one.
 * Returns as build_work's make. */
int compile_ask(struct worker *worker, json_t *request, double seconds, struct built *built, struct err *err);

/* Waits for the build of a request's configuration, while the runner that gets the request next opens what it needs
 * beside the code. Returns 1 if it can run, with the request's limits less the wait; 0 with a result that says why it
 * cannot; -1 as builder_get. */
int compile_await(struct builder *builder, const struct runner *runner, struct trial_request *request,
                  struct trial_result *result, struct err *err);

/* The compiled-in CUDA kernels: a runner that waits for the code of what it runs. arch: 90 for compute capability 9.0.
 * The problem is kept, the worker borrowed. */
struct compile_kernel;
struct compile_kernel *compile_kernel_new(const char *kernel, const json_t *problem, struct worker *worker, int arch);
void compile_kernel_free(struct compile_kernel *compile); /* NULL is allowed */
struct builder *compile_kernel_builder(struct compile_kernel *compile);
struct runner compile_kernel_runner(struct compile_kernel *compile);

/* Everything besides the sources that decides what a build makes: compilers and other tools, the variables that they
 * obey, and the processor. Goes into the key of a build (tuner/build/cache.h). */
void toolchain_hash_text(struct sha256 *sha, const char *text); /* NULL counts as an empty text */
/* The files that a command names by their absolute paths or that are found in PATH, with their sizes and times, but not
 * those that it writes. */
void toolchain_hash_line(struct sha256 *sha, const char *line);
/* Variables like CFLAGS, and the processor, because code for this one need not run on another. */
void toolchain_hash_host(struct sha256 *sha);
#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T1 specifications of language "CUDA", "OpenCL" or "HIP": a __global__ or __kernel function, compiled for each
 * configuration by the worker, which runs it on the arguments that KernelSpecification describes. */
#ifndef TUNER_SPEC_CUDA_CUDA_H
#define TUNER_SPEC_CUDA_CUDA_H
#include "tuner/build/builder.h"
#include "tuner/spec/spec.h"

struct spec_cuda;
/* Checks KernelSpecification, its files and all values of the space; nothing is run, no GPU is needed. ERR_USAGE names
 * the fault in the file. The specification and the worker must outlive it. May be called in a thread of its own, for a
 * worker on another machine too, if that sees the specification's files under the same paths. */
struct spec_cuda *spec_cuda_new(const struct spec *spec, struct worker *worker, struct err *err);
void spec_cuda_free(struct spec_cuda *cuda);
/* From now on configurations are compiled ahead for this architecture (90: compute capability 9.0), in workers of their
 * own. Returns their builder, which belongs to the specification. */
struct builder *spec_cuda_ahead(struct spec_cuda *cuda, int arch);
/* Adds the specification's Metrics to a result whose objective is time; ctx is the spec_cuda. */
void spec_cuda_annotate(void *ctx, json_t *result);
/* Runs a request's config on its device and ignores its kernel, library and problem. -1 where the baseline, whose
 * outputs are the reference, does not compile or run. */
struct runner spec_cuda_runner(struct spec_cuda *cuda);
const char *spec_cuda_source(const struct spec_cuda *cuda); /* "sha256:..." of specification and kernel file */
const json_t *
spec_cuda_problem(const struct spec_cuda *cuda);            /* {"size": "4096x4096"} for people and the store, or {} */
const char *spec_cuda_kernel(const struct spec_cuda *cuda); /* its name in the worker */
#endif

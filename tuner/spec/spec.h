/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T1 tuning specifications (ConfigurationSpace, KernelSpecification), version 1.0.0 and the deviations of published
 * files.
 */
#ifndef TUNER_SPEC_SPEC_H
#define TUNER_SPEC_SPEC_H

#include "tuner/space/space.h"

enum spec_language { SPEC_COMMAND, SPEC_C, SPEC_CUDA, SPEC_OPENCL, SPEC_HIP, SPEC_OTHER };

struct spec; /* opaque; owns what it gives */
/* ERR_USAGE names the file, the parameter or condition, and the place in its text. The file is hostile until checked:
 * size, types, number of values (DOMAIN_MAX), names, nesting. */
struct spec *spec_load(const char *path, struct err *err);
/* The same from a text; path serves for messages, the name and the folder. */
struct spec *spec_parse(const char *text, size_t size, const char *path, struct err *err);
void spec_free(struct spec *spec);
const char *spec_name(const struct spec *spec); /* BenchmarkName or KernelName, else the file's base name */
enum spec_language spec_language(const struct spec *spec);
const char *spec_language_word(const struct spec *spec); /* as the file spells it */
const char *spec_device(enum spec_language language);    /* that it runs on: "cuda", "opencl", "hip"; NULL: the CPU */
const char *spec_folder(const struct spec *spec);        /* of the file, which KernelFile is relative to */
const char *spec_hash(const struct spec *spec);          /* "sha256:..." of the file */
const json_t *spec_kernel(const struct spec *spec);      /* KernelSpecification, {} where absent */
const json_t *spec_baseline(const struct spec *spec);    /* a valid configuration, see below */
const struct space *spec_space(const struct spec *spec); /* built; NULL once taken */
struct space *spec_take_space(struct spec *spec);        /* the caller frees it */

/* The baseline takes each Default that is one of the Values, and elsewhere the first value. If that is not valid it is
 * the nearest valid configuration with these Defaults, or else the nearest of all. */
#endif

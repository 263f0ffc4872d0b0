/* SPDX-License-Identifier: GPL-3.0-or-later */
/* T1 specifications of language "C": a C function, compiled anew for each configuration (-DNAME=VALUE) to a plug-in
 * that the worker runs. Its outputs are compared with those of the baseline's build on the same inputs. */
#ifndef TUNER_SPEC_C_C_H
#define TUNER_SPEC_C_C_H
#include "base/hash.h"
#include "tuner/build/builder.h"
#include "tuner/spec/spec.h"

struct spec_c;
/* Checks KernelSpecification and all values of the space, and makes a folder for the builds (tuner/build/cache.h).
 * ERR_USAGE names what is wrong in the file; ERR_FAILED where there is no compiler (CC, else cc) that works. The
 * specification may be freed afterwards, the worker may not. */
struct spec_c *spec_c_new(const struct spec *spec, struct worker *worker, struct err *err);
/* The same where the worker is on another machine: that machine compiles, in a new folder inside this one, which both
 * machines must see. May be called in a thread of its own. */
struct spec_c *spec_c_new_at(const struct spec *spec, struct worker *worker, const char *folder, struct err *err);
/* The hash that spec_c_source would return; checks everything except the compiler. */
int spec_c_identify(const struct spec *spec, char source[SHA256_TEXT], struct err *err);
void spec_c_free(struct spec_c *c);               /* removes the folder */
void spec_c_rebuild(struct spec_c *c);            /* from now on, ignores what earlier sessions have built */
struct builder *spec_c_builder(struct spec_c *c); /* compiles ahead where it has helpers; lives as long as c */
/* Runs a request's config and ignores its kernel, library and problem. A configuration that does not compile is a
 * result (TRIAL_COMPILE, with the compiler's first error). -1 where the baseline itself does not compile or run. */
struct runner spec_c_runner(struct spec_c *c);
const char *spec_c_source(const struct spec_c *c); /* "sha256:..." of specification, kernel file and compiler's name */
#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Makes the plan of a specification whose Language is "Command". */
#ifndef SRC_PLAN_PROGRAM_SPEC_H
#define SRC_PLAN_PROGRAM_SPEC_H
#include "src/plan/program_plan.h"
#include "tuner/spec/spec.h"

/* Reads Command, Build, Metric, Maximize, Verify, BeforeEach, Input and Cwd of KernelSpecification; an option of the
 * same meaning (--build, --metric, ...) overrides its member. The plan takes the space from the specification.
 * ERR_USAGE for another language, a member of a wrong type, and options that conflict with a specification (--param,
 * --constraint,
 * --default, --openmp, a program after "--"). */
struct program_plan *program_plan_from_spec(struct spec *spec, const struct opt_args *args, struct err *err);
#endif

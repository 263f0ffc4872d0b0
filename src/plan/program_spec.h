/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Specifications whose Language is "Command" as something that `tune` can run. */
#ifndef SRC_PLAN_PROGRAM_SPEC_H
#define SRC_PLAN_PROGRAM_SPEC_H
#include "src/app/cmd.h"
#include "src/plan/program_plan.h"
#include "tuner/spec/spec.h"

/* KernelSpecification's Command, Build, Metric, Maximize, Verify, BeforeEach, Input and Cwd; an option of the same
 * meaning (--build, --metric, ...) takes the place of its member. The plan owns the space, which the specification then
 * has no more. ERR_USAGE for another language, a member of a wrong type, and options that say what the specification
 * does (--param, --constraint, --default, --openmp, a program after "--"). */
struct program_plan *program_plan_from_spec(struct spec *spec, const struct opt_args *args, struct err *err);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Variables that Kokkos declares, questions that it asks about them, and the contexts of the engine that these become.
 */
#ifndef LIB_KOKKOS_SPACE_KOKKOS_SPACE_H
#define LIB_KOKKOS_SPACE_KOKKOS_SPACE_H
#include "lib/inside/inside.h"
#include "lib/kokkos/space/kokkos_abi.h"

enum {
	KOKKOS_OUTPUTS = 8,  /* of one question */
	KOKKOS_FEATURES = 8, /* members of its problem */
	KOKKOS_LISTED = 64,  /* values that are tried of a range */
	KOKKOS_PARAM = 80
};

/* Kokkos asks for its own variables as fractions of lists that it does not show (README.md). */
enum kokkos_role { KOKKOS_OWN, KOKKOS_TILE, KOKKOS_VECTOR, KOKKOS_TEAM, KOKKOS_NAME };

struct kokkos_variable {
	struct kokkos_variable *next; /* declared before it */
	size_t id;
	bool is_output;
	char *name, *label; /* label: of the kernel, or the name itself */
	enum kokkos_role role;
	unsigned dimension;         /* of a tile */
	struct kokkos_info info;    /* without the candidates of a set */
	union kokkos_value *values; /* candidates */
	size_t count;
	struct kokkos_question *questions; /* those whose first output it is */
};

/* Outputs that are asked for together. */
struct kokkos_question {
	struct kokkos_question *next;
	sweetspot_context *context; /* NULL: the engine does not take it */
	size_t count;
	struct kokkos_variable *outputs[KOKKOS_OUTPUTS];
	char params[KOKKOS_OUTPUTS][KOKKOS_PARAM];
	bool has_tiles, host;
	bool is_builtin; /* what Kokkos does without a tool is none of the values */
	double scale;    /* seconds for one of the goal that the program declared; 0: not known yet */
};

/* NULL: there is no memory for it. */
struct kokkos_variable *kokkos_variable_declare(bool is_output, const char *name, size_t id, struct kokkos_info *info);
/* NULL: it was never declared. */
struct kokkos_variable *kokkos_variable_find(size_t id);
/* Builds it at the first time, with the defaults that the values have then. NULL: it has no candidates. host: the
 * kernel runs on the processor. can_keep: Kokkos' heuristic can be had for single kernels. */
struct kokkos_question *kokkos_question_of(const struct kokkos_variable_value *outputs, size_t count, bool host,
                                           bool can_keep);
/* How many of Kokkos' own variables were declared: with another one there may be another answer for a label. */
size_t kokkos_fraction_count(void);
/* The question that Kokkos itself asks for the kernel of that label; NULL: none was declared. */
struct kokkos_question *kokkos_question_of_label(const char *label, bool host, bool can_keep);
/* Writes what was chosen. An output whose default was chosen is left as it is, except where that is no value (a
 * fraction). */
void kokkos_question_answer(const struct kokkos_question *question, const struct sweetspot_choice *choice,
                            struct kokkos_variable_value *outputs);
/* The members that the active inputs give; sorted by name. text: room for categories written as words. */
size_t kokkos_problem_read(const struct kokkos_variable_value *inputs, size_t count, struct sweetspot_value *problem,
                           char text[KOKKOS_FEATURES][KOKKOS_STRING + 1]);

/* A profile that libsweetspot finds, where that is installed, has a recommendation for this program. */
bool kokkos_profile_knows(void);
#endif

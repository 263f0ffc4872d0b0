/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Our declarations of Kokkos' interface have its sizes and places: by the numbers that were seen, and by the public
 * header where it is there (CPPFLAGS=-I.. tells where). */
#include "lib/kokkos/space/kokkos_abi.h"
#include "tests/tap.h"

#if __has_include(<impl/Kokkos_Profiling_C_Interface.h>)
#include <impl/Kokkos_Profiling_C_Interface.h>
#elif __has_include(<trilinos/impl/Kokkos_Profiling_C_Interface.h>)
#include <trilinos/impl/Kokkos_Profiling_C_Interface.h>
#elif __has_include(<kokkos/impl/Kokkos_Profiling_C_Interface.h>)
#include <kokkos/impl/Kokkos_Profiling_C_Interface.h>
#endif

#ifdef KOKKOSP_INTERFACE_VERSION
#define SAME_PLACE(ours, member, theirs, other)                                                                        \
	_Static_assert(offsetof(struct ours, member) == offsetof(struct theirs, other), #other);
SAME_PLACE(kokkos_info, type, Kokkos_Tools_VariableInfo, type)
SAME_PLACE(kokkos_info, category, Kokkos_Tools_VariableInfo, category)
SAME_PLACE(kokkos_info, quantity, Kokkos_Tools_VariableInfo, valueQuantity)
SAME_PLACE(kokkos_info, candidates, Kokkos_Tools_VariableInfo, candidates)
SAME_PLACE(kokkos_info, tool, Kokkos_Tools_VariableInfo, toolProvidedInfo)
SAME_PLACE(kokkos_variable_value, id, Kokkos_Tools_VariableValue, type_id)
SAME_PLACE(kokkos_variable_value, value, Kokkos_Tools_VariableValue, value)
SAME_PLACE(kokkos_variable_value, info, Kokkos_Tools_VariableValue, metadata)
SAME_PLACE(kokkos_set, size, Kokkos_Tools_ValueSet, size)
SAME_PLACE(kokkos_set, values, Kokkos_Tools_ValueSet, values)
SAME_PLACE(kokkos_range, lower, Kokkos_Tools_ValueRange, lower)
SAME_PLACE(kokkos_range, upper, Kokkos_Tools_ValueRange, upper)
SAME_PLACE(kokkos_range, step, Kokkos_Tools_ValueRange, step)
SAME_PLACE(kokkos_range, open_lower, Kokkos_Tools_ValueRange, openLower)
SAME_PLACE(kokkos_range, open_upper, Kokkos_Tools_ValueRange, openUpper)
SAME_PLACE(kokkos_goal, id, Kokkos_Tools_OptimzationGoal, type_id)
SAME_PLACE(kokkos_goal, goal, Kokkos_Tools_OptimzationGoal, goal)
SAME_PLACE(kokkos_settings, global_fencing, Kokkos_Tools_ToolSettings, requires_global_fencing)
SAME_PLACE(kokkos_actions, fence, Kokkos_Tools_ToolProgrammingInterface, fence)
#define SAME_SIZE(ours, theirs) _Static_assert(sizeof(struct ours) == sizeof(struct theirs), #theirs);
SAME_SIZE(kokkos_info, Kokkos_Tools_VariableInfo)
SAME_SIZE(kokkos_variable_value, Kokkos_Tools_VariableValue)
SAME_SIZE(kokkos_range, Kokkos_Tools_ValueRange)
SAME_SIZE(kokkos_goal, Kokkos_Tools_OptimzationGoal)
SAME_SIZE(kokkos_settings, Kokkos_Tools_ToolSettings)
SAME_SIZE(kokkos_actions, Kokkos_Tools_ToolProgrammingInterface)
SAME_SIZE(kokkos_space, Kokkos_Profiling_SpaceHandle)
#endif

static void test_header(void) {
#ifdef KOKKOSP_INTERFACE_VERSION
	ok((int)KOKKOS_DOUBLE == kokkos_value_double && (int)KOKKOS_INT == kokkos_value_int64 &&
	       (int)KOKKOS_WORD == kokkos_value_string,
	   "types have the numbers of the public header");
	ok((int)KOKKOS_CATEGORICAL == kokkos_value_categorical && (int)KOKKOS_ORDINAL == kokkos_value_ordinal &&
	       (int)KOKKOS_INTERVAL == kokkos_value_interval && (int)KOKKOS_RATIO == kokkos_value_ratio,
	   "categories have the numbers of the public header");
	ok((int)KOKKOS_SET == kokkos_value_set && (int)KOKKOS_RANGE == kokkos_value_range &&
	       (int)KOKKOS_UNBOUNDED == kokkos_value_unbounded,
	   "sets and ranges have the numbers of the public header");
	ok((int)KOKKOS_MINIMIZE == Kokkos_Tools_Minimize && (int)KOKKOS_MAXIMIZE == Kokkos_Tools_Maximize,
	   "goals have the numbers of the public header");
#else
	tap_skip("the declarations agree with Kokkos' public header", "it is not installed");
#endif
}

int main(void) {
	ok(sizeof(union kokkos_value) == KOKKOS_STRING, "a value has room for a word of 63 characters");
	ok(sizeof(enum kokkos_type) == 4 && offsetof(struct kokkos_info, candidates) == 16,
	   "three numbers of 4 bytes stand before the candidates");
	test_header();
	return tap_done();
}

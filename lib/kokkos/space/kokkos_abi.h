/* SPDX-License-Identifier: BSD-3-Clause */
/* The C interface between Kokkos and a tool, by its layout (kokkos/core/src/impl/Kokkos_Profiling_C_Interface.h,
 * interface 20210225 and later). We declare it ourselves, so that the library is built without Kokkos; tests/kokkos/abi
 * compares it with the public header where that is there. */
#ifndef LIB_KOKKOS_SPACE_KOKKOS_ABI_H
#define LIB_KOKKOS_SPACE_KOKKOS_ABI_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A function that Kokkos looks for. */
#define KOKKOS_EXPORT __attribute__((visibility("default")))
#define KOKKOS_TOOL(NAME, ...)                                                                                         \
	KOKKOS_EXPORT void kokkosp_##NAME(__VA_ARGS__);                                                                    \
	KOKKOS_EXPORT void kokkosp_##NAME(__VA_ARGS__)

enum { KOKKOS_STRING = 64, KOKKOS_SETTINGS = 256, KOKKOS_ACTIONS = 32 };

enum kokkos_type { KOKKOS_DOUBLE, KOKKOS_INT, KOKKOS_WORD };
enum kokkos_category { KOKKOS_CATEGORICAL, KOKKOS_ORDINAL, KOKKOS_INTERVAL, KOKKOS_RATIO };
enum kokkos_quantity { KOKKOS_SET, KOKKOS_RANGE, KOKKOS_UNBOUNDED };
enum kokkos_goal_kind { KOKKOS_MINIMIZE, KOKKOS_MAXIMIZE };

union kokkos_value {
	int64_t integer;
	double real;
	char word[KOKKOS_STRING];
};

struct kokkos_set {
	size_t size;
	const void *values; /* int64_t, double or char[64] */
};

struct kokkos_range {
	union kokkos_value lower, upper, step;
	bool open_lower, open_upper;
};

struct kokkos_info {
	enum kokkos_type type;
	enum kokkos_category category;
	enum kokkos_quantity quantity;
	union {
		struct kokkos_set set;
		struct kokkos_range range;
	} candidates;
	void *tool;
};

struct kokkos_variable_value {
	size_t id;
	union kokkos_value value;
	struct kokkos_info *info;
};

struct kokkos_goal {
	size_t id;
	enum kokkos_goal_kind goal;
};

struct kokkos_settings {
	bool global_fencing;
	bool others[KOKKOS_SETTINGS - 1];
};

struct kokkos_actions {
	void (*fence)(uint32_t device);
	void (*others[KOKKOS_ACTIONS - 1])(void);
};

struct kokkos_space {
	char name[KOKKOS_STRING];
};

#if defined(__LP64__)
_Static_assert(sizeof(struct kokkos_info) == 224 && sizeof(struct kokkos_range) == 200, "as Kokkos lays it out");
_Static_assert(sizeof(struct kokkos_variable_value) == 80 && sizeof(struct kokkos_set) == 16, "as Kokkos lays it out");
_Static_assert(sizeof(struct kokkos_settings) == 256 && sizeof(struct kokkos_actions) == 256, "as Kokkos lays it out");
#endif
#endif

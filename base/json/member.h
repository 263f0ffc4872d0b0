/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a document as a table: for each its key, its type, its range, and the field of a struct that receives
 * it. Whoever reads a document by a table works with the struct from then on, whose members the compiler checks. */
#ifndef BASE_JSON_MEMBER_H
#define BASE_JSON_MEMBER_H
#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum member_type {
	MEMBER_OTHER, /* the caller reads it */
	MEMBER_INT,   /* int, min to max */
	MEMBER_WHOLE, /* uint64_t, 0 to INT64_MAX */
	MEMBER_COUNT, /* int64_t */
	MEMBER_REAL,  /* double, 0 to max */
	MEMBER_BOOL,  /* bool */
	MEMBER_TEXT,  /* const char * in the document, min characters or more */
	MEMBER_JSON,  /* const json_t * in the document */
	MEMBER_WORDS, /* const char **, NULL-terminated, an array in the arena of at most max strings in the request */
	MEMBER_READ   /* by `read`, which may accept any JSON */
};

struct member {
	const char *key; /* for members_take a path, such as "speedup.ci.0" */
	enum member_type type;
	size_t offset; /* of the field */
	int64_t min, max;
	int (*read)(const json_t *value, void *field, struct err *err);
};

/* A row: MEMBER(struct request, "samples", INT, samples, .max = 100000). One that the caller reads: {.key = "op"}. */
#define MEMBER(to, name, kind, field, ...)                                                                             \
	{ .key = name, .type = MEMBER_##kind, .offset = offsetof(to, field), __VA_ARGS__ }

/* A list of rows makes a struct, its fallbacks, and the table that reads it:
 *     #define LOAD_MEMBERS(X) X(busy, BOOL, "busy", false) X(load, REAL, "load", NAN)
 *     struct load { LOAD_MEMBERS(MEMBER_DECLARE) } load = {LOAD_MEMBERS(MEMBER_FALLBACK)};
 *     members_take(MEMBERS_OF(struct load, LOAD_MEMBERS), json, &load);
 * A member that is absent, null or of another type keeps its fallback. Texts and documents stay owned by `json`. */
#define MEMBER_DECLARE(name, kind, path, fallback)  MEMBER_IS_##kind name;
#define MEMBER_FALLBACK(name, kind, path, fallback) .name = fallback,
#define MEMBER_ROW(name, kind, path, fallback)                                                                         \
	{.key = path, .type = MEMBER_##kind, .offset = offsetof(members_of, name)},
#define MEMBER_IS_TEXT  const char *
#define MEMBER_IS_REAL  double
#define MEMBER_IS_COUNT int64_t
#define MEMBER_IS_BOOL  bool
#define MEMBER_IS_JSON  const json_t *
#define MEMBERS_OF(of, rows)                                                                                           \
	({                                                                                                                 \
		typedef of members_of;                                                                                         \
		static const struct member table[] = {rows(MEMBER_ROW){0}};                                                    \
		table;                                                                                                         \
	})
/* The table ends with {0}. */
void members_take(const struct member *members, const json_t *json, void *out);
#endif

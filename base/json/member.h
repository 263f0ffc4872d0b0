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

/* Rows for members_take, whose type is that of the field: FIELD(struct load, busy), FIELD_AT(struct load, low, "ci.0"). */
#define FIELD(to, field) FIELD_AT(to, field, #field)
#define FIELD_AT(to, field, path)                                                                                      \
	{                                                                                                                  \
		.key = path, .offset = offsetof(to, field),                                                                    \
		.type = _Generic(((to *)0)->field, int64_t                                                                     \
		                 : MEMBER_COUNT, double                                                                        \
		                 : MEMBER_REAL, bool                                                                           \
		                 : MEMBER_BOOL, const char *                                                                   \
		                 : MEMBER_TEXT, const json_t *                                                                 \
		                 : MEMBER_JSON)                                                                                \
	}

/* Fills the fields of `out` with what the document has of them. A member that is absent, null or of another type leaves
 * its field alone, so set the fallbacks before. Texts and documents stay owned by `json`. */
void members_take_some(const struct member *members, size_t count, const json_t *json, void *out);
#define members_take(members, json, out) members_take_some(members, sizeof(members) / sizeof *(members), json, out)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The members of a request as a table: the type of each, its range, and the field of a struct that receives it. */
#ifndef WORKER_KERNEL_MEMBER_H
#define WORKER_KERNEL_MEMBER_H
#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/mem.h"

enum member_type {
	MEMBER_OTHER, /* the caller reads it */
	MEMBER_INT,   /* int, min to max */
	MEMBER_WHOLE, /* uint64_t, 0 to INT64_MAX */
	MEMBER_REAL,  /* double, 0 to max */
	MEMBER_BOOL,  /* bool */
	MEMBER_TEXT,  /* const char * in the request, min characters or more */
	MEMBER_WORDS, /* const char **, NULL-terminated, an array in the arena of at most max strings in the request */
	MEMBER_READ   /* by `read`, which may accept any JSON */
};

struct member {
	const char *key;
	enum member_type type;
	size_t offset; /* of the field */
	int64_t min, max;
	int (*read)(const json_t *value, void *field, struct err *err);
};

/* A row: MEMBER(struct request, "samples", INT, samples, .max = 100000). One that the caller reads: {.key = "op"}. */
#define MEMBER(to, name, kind, field, ...)                                                                             \
	{ .key = name, .type = MEMBER_##kind, .offset = offsetof(to, field), __VA_ARGS__ }

/* Fills the fields of `out`; an absent or null member leaves its field alone, but MEMBER_WORDS makes an empty array of
 * it. -1 and ERR_USAGE for a value of another type or out of range, and for a key that is not in the table. */
int members_read(struct arena *arena, const struct member *members, size_t count, const json_t *json, void *out,
                 struct err *err);

#endif

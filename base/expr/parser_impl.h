/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the parser. */
#ifndef BASE_EXPR_PARSER_IMPL_H
#define BASE_EXPR_PARSER_IMPL_H
#include "base/expr/node.h"

#define PARSE_FAILED UINT32_MAX

struct parser {
	struct expr *expr;
	const char *at;
	int nest;
	struct err *err;
};

/* A list of kids that grows while it is parsed. */
struct kids {
	uint32_t *at;
	uint32_t count, room;
};

/* All return a node, or PARSE_FAILED with the error set. */
uint32_t parser_fail(struct parser *p, const char *what);
uint32_t parser_two(struct parser *p, enum expr_op op, uint32_t a, uint32_t b);
uint32_t parser_one(struct parser *p, enum expr_op op, uint32_t a);
uint32_t parser_choice(struct parser *p); /* a whole expression */
uint32_t parser_atom(struct parser *p);

void parser_skip_space(struct parser *p);
bool parser_take(struct parser *p, const char *sign);
bool parser_take_word(struct parser *p, const char *word);
bool parser_is_word(char c);
/* Operands up to `close`, which is consumed. A trailing comma is allowed. */
bool parser_list(struct parser *p, struct kids *kids, const char *close);
#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers of graph files. A reader gets the whole file in memory and adds its edges. It allocates what a header
 * announces only after the file has shown that it is long enough. */
#ifndef KERNELS_CC_READER_H
#define KERNELS_CC_READER_H
#include "kernels/cc/graph.h"

/* Numbers of vertices are int32, and n is one more than the largest. */
enum { CC_FILE_N_MAX = INT32_MAX - 1 };

struct cc_text {
	const char *at, *end; /* *end is '\0', past the file */
	int64_t line;         /* from 1 */
	const char *name;     /* of the file, for messages */
	size_t size;
	const struct ss_call *call;
};

struct cc_format {
	const char *name, *extension, *magic; /* how a file begins, or NULL */
	enum ss_status (*read)(struct cc_text *text, struct cc_pairs *pairs);
};

extern const struct cc_format cc_metis, cc_matrix_market, cc_serialized, cc_edge_list;

/* text.c */
bool cc_text_blank(struct cc_text *text); /* skips blanks; true at the end of the line or of the file */
bool cc_text_next(struct cc_text *text);  /* to the next line; false if the file ends before it */
bool cc_text_comment(const struct cc_text *text, const char *marks);
/* Skips blanks and reads a number of 0 .. most. `what` names it in the message: "line 2: WHAT ..." */
enum ss_status cc_text_number(struct cc_text *text, const char *what, int64_t most, int64_t *number);
enum ss_status cc_text_real(struct cc_text *text, const char *what); /* reads any number, for nothing */
enum ss_status cc_text_end(struct cc_text *text);                    /* the line must end here */

/* The message: "FILE line N: ..." and, without a line, "FILE: ..." */
__attribute__((format(printf, 2, 3))) enum ss_status cc_text_wrong(const struct cc_text *text, const char *format, ...);
__attribute__((format(printf, 2, 3))) enum ss_status cc_file_wrong(const struct cc_text *text, const char *format, ...);

/* file.c: the file's contents, with a '\0' behind them. */
enum ss_status cc_file_load(const char *path, const struct ss_call *call, char **data, size_t *size);
/* The format by the name and the first bytes; then the edges. */
enum ss_status cc_file_parse(const char *path, const char *data, size_t size, const struct ss_call *call,
                             struct cc_pairs *pairs);

#endif

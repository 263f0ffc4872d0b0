/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A recorded space under construction: the reader of a format adds rows, and build_finish makes the space from them. */
#ifndef TUNER_RECORD_BUILD_H
#define TUNER_RECORD_BUILD_H
#include "tuner/record/record.h"
#include "tuner/record/scan.h"

struct build;
struct build *build_new(void);
void build_free(struct build *build); /* frees the record as well, unless it was finished */
/* Readers also fill the texts of the whole record. */
struct record *build_record(struct build *build);
struct arena *build_scratch(struct build *build); /* lives as long as the build */

/* The parameter of that name, which is added if it is new; -1 with the scan's error set. */
int build_column(struct build *build, struct scan *scan, const struct scan_text *name);
int build_column_find(const struct build *build, const struct scan_text *name); /* -1: unknown */
size_t build_columns(const struct build *build);
/* Sets the order of the values if the file lists them. Without a list they are sorted. */
void build_list_value(struct build *build, int column, struct value value);
int build_counter(struct build *build, struct scan *scan, const struct scan_text *name);
struct scan_text build_counter_name(const struct build *build, int counter);

/* For each row: begin, fill the row that is returned and call the others, end. */
struct record_row *build_begin(struct build *build);
void build_value(struct build *build, int column, struct value value);
struct scan_reals *build_samples(struct build *build); /* to add to */
void build_count(struct build *build, int counter, double count);
/* False with the scan's error set if there are too many rows. A correct row becomes a failure at run time unless its
 * value is a finite number above 0. */
bool build_end(struct build *build, struct scan *scan);

/* Makes the space and the figures; NULL with err. */
struct record *build_finish(struct build *build, const char *name, struct err *err);

/* Members come in the same order in every row, so that the kind of a member is looked up where the last row had it. */
enum { BUILD_KEYS_MAX = 96 };
struct build_keys {
	struct {
		struct scan_text key;
		int kind;
	} seen[BUILD_KEYS_MAX];
	size_t next, count;
};
/* True if the last row had the key here; else the caller finds the kind and stores it with build_keys_set. */
static inline bool build_keys_get(struct build_keys *keys, const struct scan_text *key, int *kind) {
	size_t at = keys->next++;
	if (at >= keys->count || keys->seen[at].key.size != key->size ||
	    memcmp(keys->seen[at].key.at, key->at, key->size) != 0)
		return false;
	*kind = keys->seen[at].kind;
	return true;
}
static inline void build_keys_set(struct build_keys *keys, const struct scan_text *key, int kind) {
	size_t at = keys->next - 1;
	if (at > keys->count || at >= BUILD_KEYS_MAX)
		return;
	keys->seen[at].key = *key;
	keys->seen[at].kind = kind;
	if (at == keys->count)
		keys->count++;
}

#endif

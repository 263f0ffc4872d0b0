/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Private to this folder. */
#ifndef TUNER_RECORD_RECORD_IMPL_H
#define TUNER_RECORD_RECORD_IMPL_H
#include "tuner/record/record.h"

/* Shared by the files of the scanner. */

/* A pull parser of JSON (RFC 8259) for large files of which only a part is needed: values are read in place, nothing is
 * stored, and skipped values are checked only as far as brackets and strings require. NaN, Infinity and -Infinity are
 * numbers, as Python writes them. The first error sticks: from then on every function returns false.
 *
 *     for (scan_object(scan); scan_member(scan, &key);)
 *             if (scan_text_is(&key, "time"))
 *                     scan_number(scan, &time);
 *             else
 *                     scan_skip(scan);
 */

enum { SCAN_PAD = 16, SCAN_DEPTH_MAX = 64 };

struct scan {
	const char *at, *start, *end; /* SCAN_PAD bytes of 0 from end on */
	const char *name;             /* of the file, for messages */
	struct err *err;
	int depth;
	int open_depth; /* up to this depth the closing brackets may be missing */
	bool fresh;     /* behind an opening bracket: no comma is due */
	bool failed;
};

/* A text between its quotes, with its escapes. */
struct scan_text {
	const char *at;
	size_t size;
	bool escaped;
};

struct scan_reals {
	double *at; /* mem_grow() */
	size_t count, room;
};

enum scan_type { SCAN_NOTHING, SCAN_OBJECT, SCAN_ARRAY, SCAN_TEXT, SCAN_NUMBER, SCAN_TRUE, SCAN_FALSE, SCAN_NULL };

struct scan scan_of(const char *text, size_t size, const char *name, struct err *err);
enum scan_type scan_type(struct scan *scan); /* the type of the next value */
bool scan_object(struct scan *scan);
bool scan_member(struct scan *scan, struct scan_text *key); /* false: the object has ended */
bool scan_array(struct scan *scan);
bool scan_item(struct scan *scan); /* a value follows; false: the array has ended */
bool scan_skip(struct scan *scan);
bool scan_number(struct scan *scan, double *out);
/* False, without a change, unless the next value is a whole number of up to 18 digits. */
bool scan_whole(struct scan *scan, int64_t *out);
void scan_push(struct scan_reals *list, double real); /* adds it if it is finite */
/* Adds the finite numbers of a list and skips other values. */
bool scan_reals(struct scan *scan, struct scan_reals *list);
bool scan_text(struct scan *scan, struct scan_text *out);
/* A number or a text, which is copied to the arena. As in Python booleans are 1 and 0, and null is the word None. */
bool scan_value(struct scan *scan, struct arena *arena, struct value *out);
/* True if only white space is left, or if the text may end here without its brackets. */
bool scan_end(struct scan *scan);
/* Reads an object of which the member `later` needs to know `first`, in whatever order the file has them. */
void scan_in_order(struct scan *scan, const char *first, void (*first_read)(void *ctx), const char *later,
                   void (*later_read)(void *ctx), void *ctx);
/* Sets the error with name and line; always returns false. */
bool scan_fail(struct scan *scan, const char *hint, const char *what, ...) __attribute__((format(printf, 3, 4)));

static inline bool scan_text_is(const struct scan_text *text, const char *word) {
	size_t size = strlen(word);
	return text->size == size && memcmp(text->at, word, size) == 0;
}
/* A copy in the arena with escapes resolved and UTF-8 checked; NULL with the error set. */
char *scan_text_copy(struct scan *scan, const struct scan_text *text, struct arena *arena);

#define SCAN_BYTES(byte) (UINT64_C(0x0101010101010101) * (byte))

/* Eight bytes, the first one lowest. */
static inline uint64_t scan_load(const char *at) {
	uint64_t word;
	memcpy(&word, at, sizeof word);
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	word = __builtin_bswap64(word);
#endif
	return word;
}

static inline const char *scan_first(const char *at, uint64_t marks) {
	return at + __builtin_ctzll(marks) / 8;
}

static inline bool scan_is_digit(char c) {
	return (unsigned char)(c - '0') < 10;
}

static inline bool scan_is_blank(char c) {
	return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/* Moves to the next token. Indented files are mostly blanks, which are skipped eight at a time. */
static inline char scan_peek(struct scan *scan) {
	for (; scan_is_blank(*scan->at); scan->at++)
		while (scan_load(scan->at + 1) == SCAN_BYTES(' '))
			scan->at += 8;
	return *scan->at;
}

/* Sets the high bit of each byte that is 0, and perhaps of bytes behind the first of these (Mycroft 1987). */
static inline uint64_t scan_zeros(uint64_t word) {
	return (word - SCAN_BYTES(1)) & ~word & SCAN_BYTES(0x80);
}

/* The same for ", \ and bytes that a text must not hold. */
static inline uint64_t scan_stops(uint64_t word) {
	uint64_t control = (word - SCAN_BYTES(0x20)) & ~word & SCAN_BYTES(0x80);
	return scan_zeros(word ^ SCAN_BYTES('"')) | scan_zeros(word ^ SCAN_BYTES('\\')) | control;
}

/* The same for ", brackets and the end. Brackets with the bits 0x26 set are 0x7f; so are Y, y, _ and 0x7f. */
static inline uint64_t scan_brackets(uint64_t word) {
	return scan_zeros((word | SCAN_BYTES(0x26)) ^ SCAN_BYTES(0x7f)) | scan_zeros(word ^ SCAN_BYTES('"')) |
	       scan_zeros(word);
}

/* From behind the opening quote to behind the closing one. */
bool scan_unexpected(struct scan *scan, const char *wanted);

/* A recorded space under construction: the reader of a format adds rows, and build_finish makes the space from them. */
struct build;
/* Readers also fill the texts of the whole record. */

/* The parameter of that name, which is added if it is new; -1 with the scan's error set. */
int build_column(struct build *build, struct scan *scan, const struct scan_text *name);
int build_column_find(const struct build *build, const struct scan_text *name); /* -1: unknown */
/* Sets the order of the values if the file lists them. Without a list they are sorted. */
void build_list_value(struct build *build, int column, struct value value);
int build_counter(struct build *build, struct scan *scan, const struct scan_text *name);

/* For each row: begin, fill the row that is returned and call the others, end. */
struct record_row *build_begin(struct build *build);
void build_value(struct build *build, int column, struct value value);
void build_count(struct build *build, int counter, double count);
/* False with the scan's error set if there are too many rows. A correct row becomes a failure at run time unless its
 * value is a finite number; times and rates must be above 0. */
bool build_end(struct build *build, struct scan *scan);

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

/* choice NULL: the file tells. */
struct build *build_new(const struct record_choice *choice);
/* Frees the record as well, unless it was finished. */
void build_free(struct build *build);
/* Makes the space and the figures; NULL with err. */
struct record *build_finish(struct build *build, const char *name, struct err *err);

/* Shared by the files that build a record. */

enum { COUNTERS_MAX = 4096 };

struct column_value {
	struct value value;
	uint32_t rank; /* its place in the file's list, else UINT32_MAX */
};

struct column {
	const char *name;
	size_t name_size;
	struct column_value *values;
	size_t count, room, last;
	uint32_t *slots; /* place + 1, open addressing; a power of two */
	size_t mask;
	uint32_t listed; /* how many values the file lists */
};

struct raw_row {
	struct record_row row;
	const int *places; /* in the columns that were known then */
	uint32_t place_count, counter_count;
};

struct build {
	struct arena *scratch;
	struct record_choice choice;
	struct record *record;
	struct column columns[SPACE_PARAMS_MAX];
	size_t column_count;
	struct scan_text counters[COUNTERS_MAX]; /* as they stand in the file */
	const char *counter_names[COUNTERS_MAX];
	size_t counter_count, counter_next; /* counters come in the same order in every row */
	struct raw_row *rows;
	size_t row_count, row_room;
	/* The row under construction. */
	struct record_row row;
	int places[SPACE_PARAMS_MAX];
	struct scan_reals samples;
	double *counts;
	size_t count_room;
	bool counted;
};

/* Makes the space, and puts the rows in the order of its index. */
int build_space(struct build *build, struct err *err);

/* A format of recorded spaces: one const table `record_NAME`, one file record_NAME.c, one line in local.mk. */

struct record_format {
	const char *name, *summary;
	const char *const *signs; /* a top-level member with one of these names identifies the format; ends with NULL */
	/* Reads the whole file. False with the scan's error set. */
	bool (*read)(struct scan *scan, struct build *build);
};

/* A file in memory, gzipped or not. */

enum { LOAD_LIMIT = 1 << 30 };

/* Turns the bytes of a file that is not gzipped into text, in memory that has room for a 0 behind
 * it; `data` must have that, too, and is freed or returned. NULL with err. */
char *record_arrive(const char *path, char *data, size_t *size, struct err *err);
/* A file that grows much more than recorded spaces and tables do is made to fill the memory. */
enum { UNPACK_RATIO = 100, UNPACK_SMALL = 64 << 20 };
/* Bytes that a packed file of this size may expand to. */
static inline size_t record_unpacked_most(size_t size) {
	size_t most = size * UNPACK_RATIO > UNPACK_SMALL ? size * UNPACK_RATIO : UNPACK_SMALL;
	return most < LOAD_LIMIT ? most : LOAD_LIMIT;
}

/* Shared by the formats. */

/* A text for the record; any other value is skipped and leaves *out unchanged. */
bool words_text(struct scan *scan, struct build *build, const char **out);
/* A number; NAN for any other value. */
bool words_number(struct scan *scan, double *out);
/* The numbers of a list become samples; any other value is skipped. */
bool words_samples(struct scan *scan, struct build *build);
/* Reads a number in units of `unit_ms` milliseconds and stores it, in seconds, at the offset in struct record_cost. */
bool words_cost(struct scan *scan, struct record_cost *cost, size_t offset, double unit_ms);
/* The milliseconds in "s", "seconds", "Microseconds", "miliseconds", ..; 0 if it is not a unit of time. */
double words_unit_ms(const char *unit, size_t size);
double words_ms(double time, double unit_ms); /* rounded once */
#endif

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <unistd.h>
#include <zlib.h>

#include "base/stop.h"
#include "base/sys.h"
#include "tuner/record/record_impl.h"

enum { STEP = 1 << 18 /* unpacked bytes between two looks at Ctrl-C */ };
/* Recorded spaces become 10 to 30 times smaller, and deflate cannot do better than 1032 (zlib's technical details). */
enum { RATIO_DEFLATE = 1032 };

struct unpacking {
	const char *name;
	size_t packed;
	char *text;
	size_t size, room; /* bytes of the text */
	size_t most;       /* that it may have */
	z_stream stream;
};

static bool is_gzip(const char *data, size_t size) {
	return size > 18 && memcmp(data, "\x1f\x8b", 2) == 0;
}

/* The last member's size modulo 2^32 in the last four bytes (RFC 1952), which may be wrong. */
static size_t size_stored(const char *data, size_t size) {
	const unsigned char *tail = (const unsigned char *)data + size - 4;
	return tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
}

static int unpack_error(const struct unpacking *u, const char *why, struct err *err) {
	return err_set(err, ERR_USAGE, "fetch the file again", "%s: damaged gzip data: %s", u->name, why);
}

/* The part that is unpacked is enough to judge, so that a bomb that lies about its size does not cost time, either.
 */
static bool is_bomb(const struct unpacking *u) {
	size_t consumed = u->packed - u->stream.avail_in;
	return u->size > u->most || (u->size > UNPACK_SMALL && u->size / UNPACK_RATIO > consumed);
}

/* Unpacks at most STEP bytes; Z_STREAM_END behind the last member. */
static int unpack_some(struct unpacking *u) {
	size_t room = u->room - u->size;
	if (room > STEP)
		room = STEP;
	u->stream.next_out = (Bytef *)u->text + u->size;
	u->stream.avail_out = (uInt)room;
	int status = inflate(&u->stream, Z_NO_FLUSH);
	u->size += room - u->stream.avail_out;
	if (status == Z_STREAM_END && u->stream.avail_in > 0)
		return inflateReset(&u->stream);
	return status;
}

static int unpack_all(struct unpacking *u, struct err *err) {
	for (;;) {
		if (is_bomb(u))
			return err_set(err, ERR_USAGE, "if you trust it, unpack it with gunzip first; a file may have 1 GiB",
			               "%s: expands to more than %zu bytes", u->name, u->most);
		if (u->size == u->room) {
			u->room = u->room > u->most / 2 ? u->most + 1 : u->room * 2 + 4096;
			u->text = mem_grow(u->text, u->room + SCAN_PAD, 1);
		}
		if (stop_asked())
			return stop_fail(err, "while a file was unpacked");
		int status = unpack_some(u);
		if (status == Z_STREAM_END)
			return 0;
		if (status == Z_BUF_ERROR && u->stream.avail_in == 0)
			return unpack_error(u, "it ends early", err);
		if (status != Z_OK && status != Z_BUF_ERROR)
			return unpack_error(u, u->stream.msg ? u->stream.msg : zError(status), err);
	}
}

/* The text of packed data, and its size in place of theirs; NULL with err. The size at the end of a file that was cut
 * is any number, so that only the data tell whether they are a bomb; a size that no data of this length can have is
 * refused without unpacking anything. */
static char *unpacked(const char *name, const char *data, size_t *size, struct err *err) {
	size_t stored = size_stored(data, *size);
	struct unpacking u = {.name = name, .packed = *size, .most = record_unpacked_most(*size)};
	u.stream = (z_stream){.next_in = (Bytef *)data, .avail_in = (uInt)*size};
	if (stored / RATIO_DEFLATE > *size) {
		unpack_error(&u, "it ends early, or the size at its end is wrong", err);
		return NULL;
	}
	if (*size > LOAD_LIMIT || inflateInit2(&u.stream, 16 + MAX_WBITS) != Z_OK) {
		err_set(err, ERR_USAGE, NULL, "%s: cannot be unpacked", name);
		return NULL;
	}
	u.room = (stored < u.most ? stored : u.most) + 1;
	u.text = mem_large(u.room + SCAN_PAD);
	int failed = unpack_all(&u, err);
	inflateEnd(&u.stream);
	*size = u.size;
	if (!failed)
		return u.text;
	free(u.text);
	return NULL;
}

const char *record_status_word(enum record_status status) {
	static const char *const words[] = {
		[RECORD_CORRECT] = "correct", [RECORD_CONSTRAINTS] = "constraints", [RECORD_COMPILE] = "compile",
		[RECORD_RUNTIME] = "runtime", [RECORD_TIMEOUT] = "timeout",         [RECORD_CORRECTNESS] = "correctness",
	};
	return words[status];
}

static struct record *parse(const char *text, size_t size, const char *name, const struct record_choice *choice,
                            struct err *err) {
	struct scan scan = scan_of(text, size, name, err);
	const struct record_format *format = record_detect(&scan);
	if (!format)
		return NULL;
	struct build *build = build_new(choice);
	struct record *record = format->read(&scan, build) ? build_finish(build, scan.name, err) : NULL;
	if (record)
		record->format = format->name;
	build_free(build);
	return record;
}

/* Takes the data; the text, with SCAN_PAD zeros behind it. */
static char *text_of(const char *path, char *data, size_t *size, struct err *err) {
	if (data && is_gzip(data, *size)) {
		char *text = unpacked(path, data, size, err);
		free(data);
		data = text;
	}
	data = data ? record_arrive(path, data, size, err) : NULL;
	if (!data)
		return NULL;
	data = mem_grow(data, *size + SCAN_PAD, 1);
	memset(data + *size, 0, SCAN_PAD);
	return data;
}

char *record_text(const char *path, size_t *size, struct err *err) {
	bool is_stdin = strcmp(path, "-") == 0;
	char *data = is_stdin ? sys_read_fd(STDIN_FILENO, "standard input", LOAD_LIMIT, size, err)
	                      : sys_read_file(path, LOAD_LIMIT, size, err);
	if (!data && err && err->code == ERR_FAILED)
		err->code = ERR_USAGE;
	return text_of(path, data, size, err);
}

struct record *record_read(const char *path, const struct record_choice *choice, struct err *err) {
	size_t size;
	mem_auto char *text = text_of(path, sys_read_file(path, LOAD_LIMIT, &size, err), &size, err);
	return text ? parse(text, size, path, choice, err) : NULL;
}

struct record *record_parse(const char *text, size_t size, const char *name, struct err *err) {
	char *data = mem_grow(NULL, size + SCAN_PAD, 1);
	if (size)
		memcpy(data, text, size);
	mem_auto char *own = text_of(name, data, &size, err);
	return own ? parse(own, size, name, NULL, err) : NULL;
}

void record_free(struct record *record) {
	if (!record)
		return;
	space_free(record->space);
	arena_free(record->arena);
	free(record);
}

double record_row_cost(const struct record_row *row) {
	const struct record_cost *cost = &row->cost;
	return cost->compile + cost->run + cost->framework + cost->search + cost->validation;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include "tuner/record/load.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "src/base/mem.h"
#include "src/base/sys.h"
#include "tuner/record/scan.h"

static bool is_gzip(const char *data, size_t size) {
	return size > 18 && memcmp(data, "\x1f\x8b", 2) == 0;
}

/* What the last four bytes say, which may be a lie. */
static size_t size_hint(const char *data, size_t size) {
	const unsigned char *tail = (const unsigned char *)data + size - 4;
	size_t hint = tail[0] | (size_t)tail[1] << 8 | (size_t)tail[2] << 16 | (size_t)tail[3] << 24;
	size_t most = size * 1032; /* what deflate can make of it */
	if (hint > most)
		hint = most;
	return hint < LOAD_LIMIT ? hint : LOAD_LIMIT;
}

struct unpack {
	z_stream stream;
	char *text;
	size_t size, room;
};

static int unpack_error(const char *name, const char *why, struct err *err) {
	return err_set(err, ERR_USAGE, "fetch the file again", "%s: damaged gzip data: %s", name, why);
}

/* As much as fits; Z_STREAM_END behind the last member. */
static int unpack_some(struct unpack *unpack) {
	size_t room = unpack->room - unpack->size;
	unpack->stream.next_out = (Bytef *)unpack->text + unpack->size;
	unpack->stream.avail_out = (uInt)room;
	int status = inflate(&unpack->stream, Z_NO_FLUSH);
	unpack->size += room - unpack->stream.avail_out;
	if (status == Z_STREAM_END && unpack->stream.avail_in > 0)
		return inflateReset(&unpack->stream);
	return status;
}

static int unpack_all(struct unpack *unpack, const char *name, struct err *err) {
	for (;;) {
		if (unpack->size == unpack->room) {
			if (unpack->room >= LOAD_LIMIT)
				return err_set(err, ERR_USAGE, NULL, "%s: more than %d bytes", name, LOAD_LIMIT);
			unpack->room = unpack->room * 2 + 4096;
			unpack->text = mem_grow(unpack->text, unpack->room + SCAN_PAD, 1);
		}
		int status = unpack_some(unpack);
		if (status == Z_STREAM_END)
			return 0;
		if (status == Z_BUF_ERROR && unpack->stream.avail_in == 0)
			return unpack_error(name, "it ends early", err);
		if (status != Z_OK && status != Z_BUF_ERROR)
			return unpack_error(name, unpack->stream.msg ? unpack->stream.msg : zError(status), err);
	}
}

static char *unpack(const char *data, size_t size, const char *name, size_t *out, struct err *err) {
	struct unpack unpack = {.room = size_hint(data, size) + 1};
	unpack.stream.next_in = (Bytef *)data;
	unpack.stream.avail_in = (uInt)size;
	if (size > LOAD_LIMIT || inflateInit2(&unpack.stream, 16 + MAX_WBITS) != Z_OK) {
		err_set(err, ERR_FAILED, NULL, "%s: can't unpack it", name);
		return NULL;
	}
	unpack.text = mem_grow(NULL, unpack.room + SCAN_PAD, 1);
	int failed = unpack_all(&unpack, name, err);
	inflateEnd(&unpack.stream);
	if (failed) {
		free(unpack.text);
		return NULL;
	}
	memset(unpack.text + unpack.size, 0, SCAN_PAD);
	*out = unpack.size;
	return unpack.text;
}

char *load_copy(const char *data, size_t size, const char *name, size_t *out, struct err *err) {
	if (is_gzip(data, size))
		return unpack(data, size, name, out, err);
	char *text = mem_grow(NULL, size + SCAN_PAD, 1);
	if (size)
		memcpy(text, data, size);
	memset(text + size, 0, SCAN_PAD);
	*out = size;
	return text;
}

char *load_text(const char *path, size_t *size, struct err *err) {
	size_t read;
	char *data = sys_read_file(path, LOAD_LIMIT, &read, err);
	if (!data)
		return NULL;
	if (is_gzip(data, read)) {
		char *text = unpack(data, read, path, size, err);
		free(data);
		return text;
	}
	data = mem_grow(data, read + SCAN_PAD, 1);
	memset(data + read, 0, SCAN_PAD);
	*size = read;
	return data;
}

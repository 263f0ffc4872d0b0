/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Files as they arrive: archives that are whole, cut or changed, and texts in other encodings. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "tests/mutate.h"
#include "tuner/record/record_impl.h"

static void put(char *at, size_t value, size_t bytes) {
	for (size_t i = 0; i < bytes; i++)
		at[i] = (char)(value >> (8 * i));
}

/* A zip archive of one file, deflated. Caller frees. */
static char *zip_make(const char *name, const char *text, size_t *size) {
	enum { LOCAL = 30, CENTRAL = 46, END = 22, ROOM = 4096 };
	char *zip = mem_alloc(ROOM, 1), packed[ROOM / 4];
	z_stream stream = {.next_in = (Bytef *)text,
	                   .avail_in = (uInt)strlen(text),
	                   .next_out = (Bytef *)packed,
	                   .avail_out = sizeof packed};
	deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
	deflate(&stream, Z_FINISH);
	size_t length = strlen(name), data = stream.total_out, central = LOCAL + length + data;
	deflateEnd(&stream);
	memcpy(zip, "PK\3\4", 4);
	put(zip + 8, 8, 2);
	put(zip + 26, length, 2);
	memcpy(zip + LOCAL, name, length);
	memcpy(zip + LOCAL + length, packed, data);
	char *directory = zip + central, *end = directory + CENTRAL + length;
	memcpy(directory, "PK\1\2", 4);
	put(directory + 10, 8, 2);
	put(directory + 20, data, 4);
	put(directory + 24, strlen(text), 4);
	put(directory + 28, length, 2);
	memcpy(directory + CENTRAL, name, length);
	memcpy(end, "PK\5\6", 4);
	put(end + 10, 1, 2);
	put(end + 16, central, 4);
	*size = central + CENTRAL + length + END;
	return zip;
}

static bool arrives(const char *bytes, size_t size, const char *text, struct err *err) {
	char *copy = mem_alloc(size + SCAN_PAD, 1);
	memcpy(copy, bytes, size);
	*err = (struct err){0};
	copy = record_arrive("file", copy, &size, err);
	bool same = copy && size == strlen(text) && memcmp(copy, text, size) == 0;
	free(copy);
	return same;
}

static void test_zip(void) {
	static const char text[] = "threads,time_s\n1,2\n2,1\n";
	struct err err;
	size_t size;
	char *zip = zip_make("a/t.csv", text, &size);
	ok(arrives(zip, size, text, &err), "the only file of an archive is unpacked (%s)", err.what);
	for (size_t cut = 5; cut < size; cut += 3)
		if (arrives(zip, cut, text, &err) || err.code != ERR_USAGE)
			break;
	ok(err.code == ERR_USAGE && strstr(err.what, "damaged"), "a cut archive is refused: %s", err.what);
	mutate_all(zip, size, "PK\1\2\3\4\5\6", 3000);
	ok(true, "changed archives do no harm");
	free(zip);
	zip = zip_make("xl/workbook.xml", "<x/>", &size);
	ok(!arrives(zip, size, "", &err) && strstr(err.what, "spreadsheet"), "a spreadsheet is named as one");
	free(zip);
}

static void test_encodings(void) {
	struct err err;
	ok(arrives("\xff\xfe"
	           "a\0\xb5\0\n\0",
	           8, "a\xc2\xb5\n", &err),
	   "UTF-16 of Windows is read");
	ok(arrives("\xfe\xff\0a\xd8\x3d\xde\0", 8, "a\xf0\x9f\x98\x80", &err),
	   "UTF-16 in the other order, with a pair, is read");
	ok(arrives("\xff\xfe\x3d\xd8"
	           "a\0",
	           6,
	           "\xef\xbf\xbd"
	           "a",
	           &err),
	   "half a pair is replaced");
	ok(arrives("\xef\xbb\xbf{}", 5, "{}", &err), "a byte order mark is left out");
	ok(arrives("F\xe4"
	           "den",
	           5,
	           "F\xc3\xa4"
	           "den",
	           &err),
	   "ISO 8859-1 is read");
	ok(arrives("\x01\xe4", 2, "\x01\xe4", &err), "bytes that are no text stay as they are");
}

static void test_mistaken(void) {
	static const char *const cases[][2] = {
		{"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 9\n", "Git LFS"},
		{"\n<!DOCTYPE html>\n<html>", "web page"},
		{"SQLite format 3\n", "SQLite"}};
	struct err err;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
		ok(!arrives(cases[i][0], strlen(cases[i][0]), "", &err) && strstr(err.what, cases[i][1]) && *err.hint,
		   "what is something else is named as that: %s", cases[i][1]);
}

int main(void) {
	test_zip();
	test_encodings();
	test_mistaken();
	return tap_done();
}

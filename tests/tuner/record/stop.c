/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The user's wish to end is heard while a file is read and while a space is counted. */
#include "base/stop.h"
#include "tests/tap.h"
#include "tests/tuner/record/record_help.h"
#include "tuner/space/space.h"

static volatile int flag;

static const char FILE_TEXT[] =
	"{\"metadata\": {\"timeunit\": \"ms\"}, \"results\": [{\"configuration\": {\"x\": 3}, "
	"\"times\": {\"compilation\": 1000, \"runtimes\": [3, 2.5]}, \"invalidity\": \"correct\", "
	"\"measurements\": [{\"name\": \"time\", \"value\": 4, \"unit\": \"\"}], \"objectives\": [\"time\"]}]}";

/* Returns the code of the error, ERR_OK without one. */
static enum err_code read_record(void) {
	struct err err = {0};
	record_free(record_parse(FILE_TEXT, sizeof FILE_TEXT - 1, "a file", &err));
	return err.code;
}

static enum err_code count_space(bool table) {
	static const char *const names[] = {"a", "b"};
	static const int rows[] = {0, 0, 1, 1};
	const struct value values[] = {value_int(1), value_int(2)};
	struct space *space = space_new();
	struct err err = {0};
	for (size_t i = 0; i < 2; i++)
		space_add_param(space, names[i], NULL, values, 2, NULL, &err);
	if (table)
		space_add_table(space, names, 2, rows, 2, &err);
	else
		space_add_constraint(space, "a * b <= 2", &err);
	space_build(space, &err);
	space_free(space);
	return err.code;
}

int main(void) {
	stop_watch(&flag);
	ok(read_record() == ERR_OK, "a file is read");
	ok(count_space(false) == ERR_OK && count_space(true) == ERR_OK, "spaces are counted");
	flag = 1;
	ok(read_record() == ERR_INTERRUPTED, "reading is interrupted");
	ok(count_space(false) == ERR_INTERRUPTED, "counting is interrupted");
	ok(count_space(true) == ERR_INTERRUPTED, "sorting a table is interrupted");
	return tap_done();
}

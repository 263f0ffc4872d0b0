/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Any bytes are either refused with a message, or have results whose JSON can be written, whose commands are safe to
 * copy to a shell, and whose text has no control characters. The test `hostile` calls this with mutated documents,
 * `make fuzz` runs it as a target of libFuzzer, where one document in 256 is explained: each table is shuffled many
 * times to see whether an effect is there by chance. -1: refused. */
#include <stdlib.h>
#include <string.h>

#include "base/json/js.h"
#include "base/text.h"
#include "src/cmd/machine/ceilings.h"
#include "src/cmd/explain/explain.h"
#include "tests/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* In the place of src/app/app.c. */
const json_t *app_machine(struct app *app, struct err *err) {
	(void)app;
	(void)err;
	return NULL;
}

const char *app_fingerprint(struct app *app, struct err *err) {
	(void)app;
	(void)err;
	return "none";
}

const struct kernel_list *app_kernels(struct app *app, struct err *err) {
	(void)app;
	(void)err;
	return NULL;
}

const char *app_device_kind(const struct app *app) {
	(void)app;
	return "cpu";
}

static void require(bool condition) {
	if (!condition)
		abort();
}

/* Nothing but words outside of single quotes, and those are closed. */
static void check_command(const char *text) {
	bool quoted = false;
	for (; *text; text++) {
		require((unsigned char)*text >= ' ');
		if (*text == '\'')
			quoted = !quoted;
		else if (!quoted && *text == '\\')
			require(*++text == '\'');
		else
			require(quoted || !strchr("`$&|;<>(){}[]*?!~#\"", *text));
	}
	require(!quoted);
}

static void check_result(const json_t *result) {
	const json_t *list = json_object_get(result, "diagnoses");
	char *text = js_canonical(result);
	size_t i;
	json_t *one;
	require(text && json_is_array(list) && json_is_string(json_object_get(result, "verdict")));
	json_array_foreach((json_t *)list, i, one) {
		require(*js_string_or(one, "name", "") && *js_string_or(one, "sentence", ""));
		require(json_is_object(json_object_get(one, "about")) && json_is_array(json_object_get(one, "evidence")));
		check_command(js_string_or(one, "next", ""));
	}
	json_array_foreach(json_object_get(result, "experiments"), i, one) check_command(js_string_or(one, "next", "'"));
	free(text);
}

static void check_text(struct ui *ui, const json_t *result, bool all) {
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	explain_print(ui, result, all, out);
	fclose(out);
	for (size_t at = 0, length; at < size; at += length) {
		length = text_utf8(text + at, size - at);
		require(length > 0 && (length > 1 || text[at] == '\n' || ((unsigned char)text[at] >= ' ' && text[at] != 0x7f)));
	}
	free(text);
}

static void check_item(const struct study_set *set, struct study_item *item) {
	static const struct opt options[] = {{"from", 'f', "FILE", "", OPT_REPEAT}, {0}};
	static const struct opt *const tables[] = {options, NULL};
	static char *const words[] = {(char *)"explain", (char *)"--from", (char *)"x"};
	struct opt_args *args = opt_parse(3, words, tables, NULL);
	struct explain_view view = {.args = args};
	struct ui *ui = ui_new(stdout, stderr, true, false);
	json_t *size = json_object();
	if (item->trials && explain_view_make(set, item, size, &view)) {
		json_t *result = explain_result(&view);
		check_result(result);
		check_text(ui, result, false);
		check_text(ui, result, true);
		json_decref(result);
	}
	json_decref(size);
	ui_free(ui);
	opt_free(args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
	struct err err = {0};
	json_t *document = js_parse((const char *)data, size, "input", &err);
	struct study_set *set = study_set_new("time");
	bool read = document && study_set_is_document(document) && study_set_document(set, document, &err) == 0;
	require(read || !document || !study_set_is_document(document) || err.code == ERR_USAGE);
	for (size_t i = 0; read && i < study_set_count(set); i++) {
		json_t *ceilings = study_set_at(set, i)->ceilings;
		if ((!ceilings || ceilings_check(ceilings, &err) == 0) && fuzz_one_in(256, data, size))
			check_item(set, study_set_at(set, i));
	}
	study_set_free(set);
	json_decref(document);
	return read ? 0 : -1;
}

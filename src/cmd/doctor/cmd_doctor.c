/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "base/json/js.h"
#include "base/mem.h"
#include "base/text.h"
#include "src/show/counters.h"
#include "src/cmd/doctor/doctor_impl.h"

enum { INDENT = 19 };

void finding_set(struct finding *finding, enum finding_state state, const char *remedy, const char *found, ...) {
	va_list ap;
	va_start(ap, found);
	finding->state = state;
	vsnprintf(finding->found, sizeof finding->found, found, ap);
	snprintf(finding->remedy, sizeof finding->remedy, "%s", remedy);
	va_end(ap);
}

static const char *const states[] = {[FINDING_GOOD] = "good", [FINDING_NOTE] = "note", [FINDING_BAD] = "bad"};

static void look_all(struct app *app, const struct check *checks, json_t *array) {
	for (; checks->name; checks++) {
		struct finding finding = {0};
		checks->look(app, &finding);
		if (!*finding.found)
			continue;
		json_array_append_new(array,
		                      json_pack("{s:s,s:s,s:s,s:s}", "name", checks->name, "state", states[finding.state],
		                                "found", finding.found, "remedy", finding.remedy));
	}
}

/* Lists the sources of the worker, each with its substitute. */
static json_t *sources_json(struct app *app) {
	const json_t *sources = counters_sources(app);
	json_t *array = json_array();
	js_each (source, sources) {
		char text[400] = "";
		json_t *copy = json_copy(source);
		const char *instead = counters_instead(sources, js_string_or(source, "name", ""), text, sizeof text);
		json_object_set_new(copy, "instead", *instead ? json_string(instead) : json_null());
		json_array_append_new(array, copy);
	}
	return array;
}

/* Prints a mark, a name and the finding, which is wrapped below itself. */
static void head_print(struct ui *ui, int mark, const char *name, const char *found) {
	static const char *const marks[] = {"ok", "--", "!!"};
	static const enum ui_style styles[] = {UI_GOOD, UI_DIM, UI_BAD};
	mem_auto char *text = mem_printf("%-15s", name);
	text_clean(text, false);
	printf("%s%s%s %s ", ui_style(ui, styles[mark]), marks[mark], ui_style(ui, UI_PLAIN), text);
	ui_wrap_on(stdout, INDENT, INDENT, "%s", found);
}

static void checks_print(struct ui *ui, const json_t *checks) {
	js_each (item, checks) {
		const char *state = js_string_or(item, "state", "note");
		head_print(ui,
		           strcmp(state, "good") == 0  ? 0
		           : strcmp(state, "bad") == 0 ? 2
		                                       : 1,
		           js_string_or(item, "name", "?"), js_string_or(item, "found", ""));
		ui_fix(stdout, INDENT, js_string_or(item, "remedy", ""));
	}
}

static void people_print(struct ui *ui, const json_t *document) {
	checks_print(ui, json_object_get(document, "checks"));
	puts("\ncounter sources");
	js_each (item, json_object_get(document, "counters")) {
		bool good = js_bool_or(item, "usable", false) && !*js_string_or(item, "instead", "");
		head_print(ui, good ? 0 : 1, js_string_or(item, "name", "?"), js_string_or(item, "reason", ""));
		ui_fix(stdout, INDENT, js_string_or(item, "fix", ""));
		if (*js_string_or(item, "instead", ""))
			ui_wrap(stdout, INDENT, INDENT + 9, "instead: %s", js_string_or(item, "instead", ""));
	}
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	json_t *checks = json_array();
	(void)err;
	look_all(app, doctor_build_checks, checks);
	look_all(app, doctor_system_checks, checks);
	look_all(app, doctor_gpu_checks, checks);
	look_all(app, doctor_counters_checks, checks);
	js_auto json_t *document =
		json_pack("{s:s,s:o,s:o}", "schema", "sweetspot-doctor/1", "checks", checks, "counters", sources_json(app));
	if (opt_has(args, "json"))
		js_write(document, stdout);
	else
		people_print(app_ui(app), document);
	return 0;
}

static const struct opt *const tables[] = {NULL};

const struct cmd cmd_doctor = {
	.name = "doctor",
	.summary = "check what helps or hinders measurements here, and how to fix it",
	.usage = "doctor [OPTION...]",
	.options = tables,
	.examples = "sweetspot doctor",
	.only_reads = true,
	.run = run,
};

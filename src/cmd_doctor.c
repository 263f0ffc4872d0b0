/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdarg.h>
#include <string.h>

#include "src/base/js.h"
#include "src/doctor.h"

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
		json_array_append_new(array,
		                      json_pack("{s:s,s:s,s:s,s:s}", "name", checks->name, "state", states[finding.state],
		                                "found", finding.found, "remedy", finding.remedy));
	}
}

static void counters_add(struct app *app, json_t *document) {
	const struct kernel_list *kernels = app_kernels(app, NULL);
	json_t *counters = kernels ? json_object_get(kernel_list_description(kernels), "counters") : NULL;
	json_object_set_new(document, "counters", counters ? json_incref(counters) : json_array());
}

static void people_print(struct ui *ui, const json_t *document) {
	static const char *const marks[] = {"ok", "--", "!!"};
	static const enum ui_style styles[] = {UI_GOOD, UI_DIM, UI_BAD};
	size_t i;
	json_t *item;
	json_array_foreach(json_object_get(document, "checks"), i, item) {
		const char *state = js_string_or(item, "state", "note"), *remedy = js_string_or(item, "remedy", "");
		int mark = strcmp(state, "good") == 0 ? 0 : strcmp(state, "bad") == 0 ? 2 : 1;
		printf("%s%s%s %-15s %s\n", ui_style(ui, styles[mark]), marks[mark], ui_style(ui, UI_PLAIN),
		       js_string_or(item, "name", "?"), js_string_or(item, "found", ""));
		if (*remedy)
			printf("   %-15s fix: %s\n", "", remedy);
	}
	puts("\ncounter sources");
	json_array_foreach(json_object_get(document, "counters"), i, item) {
		const char *fix = js_string_or(item, "fix", "");
		bool usable = js_bool_or(item, "usable", false);
		printf("%s%s%s %-15s %s\n", ui_style(ui, styles[usable ? 0 : 1]), marks[usable ? 0 : 1], ui_style(ui, UI_PLAIN),
		       js_string_or(item, "name", "?"), js_string_or(item, "reason", ""));
		if (*fix)
			printf("   %-15s fix: %s\n", "", fix);
	}
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	json_t *checks = json_array();
	(void)err;
	look_all(app, doctor_build_checks, checks);
	look_all(app, doctor_system_checks, checks);
	json_t *document = json_pack("{s:s,s:o}", "schema", "sweetspot-doctor/1", "checks", checks);
	counters_add(app, document);
	if (opt_has(args, "json"))
		js_write(document, stdout);
	else
		people_print(app_ui(app), document);
	json_decref(document);
	return 0;
}

static const struct opt *const tables[] = {NULL};

const struct cmd cmd_doctor = {
	.name = "doctor",
	.summary = "what helps or hinders measuring here, each with its remedy",
	.usage = "[OPTION...]",
	.options = tables,
	.run = run,
};

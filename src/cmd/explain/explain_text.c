/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Prints an explanation for people from its JSON. Names in the JSON may come from foreign files, so each one is cleaned
 * of control characters before it is printed. */
#include <math.h>

#include "base/csv.h"
#include "base/json/js.h"
#include "src/cmd/explain/explain.h"
#include "src/cmd/explain/explain_text.h"
#include "src/show/results.h"

enum { LIST = 600 };

static void list_add(char **line, const char *before, const json_t *names) {
	size_t length = 0;
	mem_append(line, "%s%s", before, json_array_size(names) ? "" : "none");
	js_each (name, names)
		if (length + json_string_length(name) + 3 < LIST) {
			mem_append(line, "%s%s", name_at ? ", " : "", json_string_value(name));
			length += json_string_length(name) + (name_at ? 2 : 0);
		}
}

/* Says how a table that somebody brought was read. */
static void read_print(const struct explain_text *text, const json_t *table) {
	long long rows = js_int_or(table, "rows", 0), failures = js_int_or(text->result, "failures", 0);
	long long values = js_int_or(table, "values", 0) - failures, among = js_int_or(table, "among", 0);
	double assumed = js_real_or(table, "assumed_noise", NAN);
	const char *wide = js_string_or(table, "wide", ""), *left_out = js_string_or(table, "left_out", "");
	const char *direction = js_string_or(table, "assumed_direction", NULL);
	const char *names = js_string_or(table, "assumed_names", ""), *unit = js_string_or(table, "assumed_unit", NULL);
	js_auto json_t *others = json_copy(json_object_get(table, "figures"));
	const char *plural = rows == 1 ? "" : "s";
	mem_auto char *line = values > rows ? mem_printf("read %lld values of %lld configuration%s", values, rows, plural)
	                                    : mem_printf("read %lld row%s", rows, plural);
	json_array_extend(others, json_object_get(table, "counters"));
	if (failures > 0)
		mem_append(&line, ", and %lld without a time", failures);
	if (isfinite(assumed))
		mem_append(&line, "%s, assumed to be correct within %.3g %%",
		           values + failures == rows && rows > 1 ? ", one value each" : "", 100 * assumed);
	list_add(&line, "; problem: ", json_object_get(table, "problem"));
	list_add(&line, "; parameters: ", json_object_get(table, "parameters"));
	if (json_array_size(others))
		list_add(&line, "; also measured: ", others);
	mem_append(&line, "; value: %s", js_string_or(table, "value", "?"));
	if (among)
		mem_append(&line,
		           js_bool_or(table, "rate", false) ? ", the first of %lld rates (otherwise use --maximize NAME)"
		                                            : ", the longest of %lld times (otherwise use --minimize NAME)",
		           among);
	if (json_array_size(json_object_get(table, "ignored")))
		list_add(&line, "; not used: ", json_object_get(table, "ignored"));
	mem_append(&line, *left_out ? "; left out: %s" : "%s", left_out);
	mem_append(&line, *wide ? "; a column for each %s" : "%s", wide);
	mem_append(&line, *names ? "; names are assumed: %s" : "%s", names);
	if (unit)
		mem_append(&line, "; the unit is assumed to be %s (otherwise use --unit ms)", *unit == 's' ? "seconds" : unit);
	if (json_object_get(table, "assumed_device") && strcmp(js_string_or(text->result, "device", "cpu"), "cpu") != 0)
		mem_append(&line, "; taken to be of a GPU");
	bool more = direction && strcmp(direction, "maximize") == 0;
	if (direction)
		mem_append(&line, "; %s is assumed to be better (otherwise use --%simize)", more ? "more" : "less",
		           more ? "min" : "max");
	ui_wrap(text->out, INDENT, 2 * INDENT, "%s", line);
}

static void explain_text_table(const struct explain_text *text) {
	const json_t *table = json_object_get(text->result, "table"), *machine = json_object_get(text->result, "machine");
	if (json_is_object(table))
		read_print(text, table);
	if (study_machine_is_unknown(machine))
		ui_wrap(text->out, INDENT, 2 * INDENT,
		        "machine unknown: statements that depend on its cores, caches or memory are omitted; describe it with "
		        "--machine 'packages=1 cores=8 threads=16 l2=1M l3=16M'");
}

void explain_title(const struct explain_text *text, const char *title) {
	fprintf(text->out, "\n%s%s%s\n", ui_style(text->ui, UI_BOLD), title, ui_style(text->ui, UI_PLAIN));
}

void explain_list_print(const struct explain_text *text, const json_t *list, size_t most, int indent,
                        void (*print)(const struct explain_text *text, const json_t *one)) {
	js_each (one, list) {
		if (one_at >= most && !text->all) {
			fprintf(text->out, "%*s.. %zu more with --verbose\n", indent, "", json_array_size(list) - one_at);
			return;
		}
		print(text, one);
	}
}

struct shown explain_ratio_text(struct speedup ratio) {
	struct shown shown;
	snprintf(shown.text, sizeof shown.text, "%.3gx, at least %.3gx", ratio.ratio, ratio.low);
	return ratio.low > 0 && speedup_is_unbounded(ratio) ? shown : speedup_digits_text(ratio);
}

char *explain_value_text(const json_t *json) {
	struct value value;
	char *text = json && value_from_json(json, &value) ? value_string(value) : mem_strdup("-");
	text_clean(text, false);
	return text;
}

/* Only what is proven, or what is run today, is recommended. */
static const char *label_of(const json_t *result, bool tuned, bool same) {
	enum verdict verdict = verdict_of(result);
	return !tuned && js_int_or(result, "configurations", 2) == 1         ? "the only configuration:"
	       : !tuned                                                      ? "fastest measured configuration:"
	       : verdict == VERDICT_NOT_SAME                                 ? "does other work:"
	       : same || verdict == VERDICT_FASTER || verdict == VERDICT_TIE ? "recommended:"
	                                                                     : "best so far:";
}

/* A recommendation is printed as its difference from the baseline, which is what a user gets without tuning. */
static void recommended_print(const struct explain_text *text) {
	const json_t *baseline = json_object_get(text->result, "baseline"), *base = json_object_get(baseline, "config");
	const json_t *config = js_at(text->result, "winner.config");
	bool tuned = json_is_object(baseline), same = tuned && json_equal(config, base);
	js_auto json_t *kept = tuned || text->all ? json_incref((json_t *)config) : explain_varied(text->result, config);
	mem_auto char *words = results_config(kept, text->all || same ? NULL : base);
	long long ties = js_int_or(text->result, "as_fast", 0);
	mem_auto char *also = ties ? mem_printf(" (%lld more as fast)", ties) : mem_strdup("");
	ui_wrap(text->out, INDENT, 2 * INDENT, "%s %s%s", label_of(text->result, tuned, same), words,
	        same ? " (the baseline)" : also);
	mem_auto char *left_out = results_left_out(text->result);
	if (left_out)
		ui_wrap(text->out, INDENT, 2 * INDENT, "left out: %s", left_out);
}

/* Reasons from a small part of what could be tried hold for that part. */
static void seen_print(const struct explain_text *text) {
	long long tried = js_int_or(text->result, "evaluations", 0);
	long long valid = js_int_or(json_object_get(text->result, "space"), "valid", 0);
	if (tried > 0 && tried < valid)
		ui_wrap(text->out, INDENT, 2 * INDENT, "tried: %lld of %lld configurations", tried, valid);
}

/* The verdict in the words of `tune`. */
static char *verdict_words(const json_t *result) {
	const char *sentence = js_string_or(result, "sentence", NULL);
	js_auto json_t *tuned = sentence ? NULL : json_copy((json_t *)result);
	if (sentence)
		return mem_strdup(sentence);
	json_object_set(tuned, "best", json_object_get(result, "winner"));
	return results_verdict(tuned);
}

/* Results of other tuners come with a machine that we never saw, and a program that we cannot run. */
static bool is_foreign(const struct explain_text *text) {
	const json_t *machine = json_object_get(text->result, "machine");
	return json_is_object(machine) && !json_object_get(machine, "fingerprint");
}

/* Nobody knows the unit of the times: they are relative, named by --minimize, or assumed to be seconds. */
static bool is_unitless(const struct explain_text *text) {
	bool unitless = strcmp(js_string_or(json_object_get(text->result, "table"), "assumed_unit", ""), "s") == 0;
	js_each (column, json_object_get(json_object_get(text->result, "source"), "columns"))
		unitless =
			unitless || (strcmp(js_string_or(column, "role", ""), "time") == 0 && !*js_string_or(column, "unit", "s"));
	return unitless;
}

/* A value of a table that somebody brought, "648 ns an acquire"; NULL if the result is not of a table. The caller frees
 * it. */
static char *value_of_table(const struct explain_text *text, double value) {
	const json_t *table = json_object_get(text->result, "table");
	const char *per = js_string_or(table, "per", ""), *name = js_string_or(table, "value", "");
	char seconds[48];
	if (!json_is_object(table))
		return NULL;
	if (js_bool_or(table, "rate", false))
		return mem_printf("%.60s: %s", name,
		                  study_rate_text(1 / value / js_real_or(table, "scale", 1), seconds, sizeof seconds));
	if (is_unitless(text))
		return mem_printf("%.60s: %.4g", name, value);
	return mem_printf("%s%s%s", results_value(value, "s").text, *per ? " for one " : "", per);
}

static void gain_print(const struct explain_text *text) {
	const json_t *winner = json_object_get(text->result, "winner");
	double median = js_real_or(winner, "median", NAN);
	struct shown to = results_value(median, js_string_or(winner, "unit", "s"));
	mem_auto char *line = value_of_table(text, median);
	if (!line)
		line = json_is_object(json_object_get(text->result, "baseline")) ? verdict_words(text->result)
		       : is_foreign(text)                                        ? mem_strdup(to.text)
		                          : mem_printf("%s; run `sweetspot tune` to compare it with the baseline", to.text);
	ui_wrap(text->out, INDENT, 2 * INDENT, "%s", line);
}

static void left_out_print(const struct explain_text *text) {
	long long all = js_int_or(text->result, "configurations", 0), out = js_int_or(text->result, "left_out", 0);
	if (out > 0)
		ui_wrap(text->out, INDENT, 2 * INDENT,
		        "%lld of %lld configurations examined: those similar to the best one, and a sample of the others",
		        all - out, all);
}

/* Where each member of a team has work of its own, the smallest team is the fastest and not the best one. */
static bool is_weak(const struct explain_text *text) {
	return js_named(json_object_get(text->result, "readings"), "weak");
}

/* A table in which every problem has one configuration: none of it was compared with another. */
static bool is_one_each(const struct explain_text *text) {
	const json_t *problems = json_object_get(text->result, "problems");
	js_each (one, problems)
		if (js_int_or(one, "configurations", 0) != 1)
			return false;
	return json_array_size(problems) > 1 && json_object_get(text->result, "table");
}

static void head_print(const struct explain_text *text) {
	bool one_each = is_one_each(text), weak = is_weak(text);
	mem_auto char *kernel = mem_strdup(js_string_or(text->result, "kernel", "?"));
	mem_auto char *problem = one_each ? mem_strdup("") : results_config(json_object_get(text->result, "problem"), NULL);
	bool guessed = js_bool_or(json_object_get(text->result, "table"), "assumed_device", false);
	const char *device = guessed ? "cpu" : js_string_or(text->result, "device", "cpu");
	text_clean(kernel, false);
	fprintf(text->out, "%s%s%s %s%s%s\n", ui_style(text->ui, UI_BOLD), kernel, ui_style(text->ui, UI_PLAIN), problem,
	        strcmp(device, "cpu") == 0 ? "" : " on ", strcmp(device, "cpu") == 0 ? "" : device);
	if (!json_is_object(json_object_get(text->result, "winner"))) {
		ui_wrap(text->out, INDENT, 2 * INDENT, "no configuration of this problem finished");
		return;
	}
	/* A table without parameters does not have anything to recommend. */
	if (!one_each && !weak && json_object_size(js_at(text->result, "winner.config"))) {
		recommended_print(text);
		gain_print(text);
		seen_print(text);
	}
	left_out_print(text);
	explain_text_table(text);
}

/* Lists the problems that --size can select. */
static void others_print(const struct explain_text *text) {
	const json_t *problems = json_object_get(text->result, "problems");
	size_t count = json_array_size(problems);
	if (count < 2 || !text->all)
		return;
	explain_title(text, "other problems (--size)");
	js_each (one, problems) {
		mem_auto char *words = explain_problem_text(text->result, json_object_get(one, "problem"));
		long long rows = js_int_or(one, "configurations", 0);
		ui_wrap(text->out, INDENT, 2 * INDENT, "%s: %lld configuration%s", words, rows, rows == 1 ? "" : "s");
	}
}

static char *times_text(double ratio) {
	return fabs(ratio) < 1000 ? mem_printf("%.3g", ratio) : mem_printf("%.0f", ratio);
}

/* "confirmed (predicted 1.8x, measured 1.7x [1.6, 1.8])". The caller frees it. */
static char *outcome_text(const json_t *probe) {
	const char *outcome = js_string_or(probe, "outcome", "?");
	const json_t *ci = json_object_get(probe, "ci");
	if (strcmp(outcome, "not testable") == 0)
		return mem_printf("not testable here, because %s", js_string_or(probe, "reason", "?"));
	if (strcmp(js_string_or(probe, "from", ""), "record") == 0) {
		mem_auto char *bound = times_text(js_real_or(probe, "measured", NAN));
		return mem_printf("%s (at most %sx: %s)", outcome, bound, js_string_or(probe, "reason", "?"));
	}
	mem_auto char *predicted = times_text(js_real_or(probe, "predicted", NAN)),
				  *measured = times_text(js_real_or(probe, "measured", NAN)),
				  *low = times_text(json_number_value(json_array_get(ci, 0))),
				  *high = times_text(json_number_value(json_array_get(ci, 1)));
	bool known = json_is_number(json_object_get(probe, "predicted"));
	return mem_printf("%s (%s%s%s, measured %sx [%s, %s])%s",
	                  strcmp(outcome, "measured") == 0 ? "effect measured" : outcome,
	                  known ? "predicted " : "no prediction", known ? predicted : "", known ? "x" : "", measured, low,
	                  high, strcmp(js_string_or(probe, "from", ""), "tune") == 0 ? ", by the finals of tune" : "");
}

/* Each is one line, so that it can be searched for. */
static void probe_print(const struct explain_text *text, const json_t *probe) {
	const char *intervention = js_string_or(probe, "intervention", NULL);
	mem_auto char *outcome = outcome_text(probe);
	mem_auto char *line = mem_printf("%s: %s%s%s", js_string_or(probe, "cause", "?"), intervention ? intervention : "",
	                                 intervention ? ": " : "", outcome);
	for (char *at = line; *at && *at != ':'; at++)
		*at = *at == '_' ? ' ' : *at;
	text_clean(line, false);
	fprintf(text->out, "%*s%s\n", INDENT, "", line);
}

/* The verdicts first, then what is not known. */
static void explain_text_probes(const struct explain_text *text) {
	const json_t *probes = json_object_get(text->result, "probes");
	if (json_array_size(probes))
		explain_title(text, "probe: times as it is / with the intervention");
	for (int pass = 0; pass < 2; pass++)
		js_each (one, probes)
			if ((strcmp(js_string_or(one, "outcome", "?"), "not testable") == 0) == (pass == 1))
				probe_print(text, one);
	mem_auto char *busy = results_busy(json_object_get(text->result, "load"), true);
	if (busy)
		ui_wrap(text->out, INDENT, INDENT, "%s: false sharing and locks need threads that run at the same time", busy);
}

/* Prints the diagnoses, strongest first, and the commands to run next. */
enum { FINDINGS_SHOWN = 5, READINGS_SHOWN = 8, EVIDENCE_SHOWN = 3, NEXT_SHOWN = 4, DEEP = 10 };

static void evidence_print(const struct explain_text *text, const json_t *line) {
	ui_wrap(text->out, DEEP, DEEP + 2, "- %s", js_string_or(line, "text", ""));
}

static void missing_print(const struct explain_text *text, const json_t *line) {
	ui_wrap(text->out, DEEP, DEEP + 2, "? unknown: %s", js_string_or(line, "text", ""));
}

static void finding_print(const struct explain_text *text, const json_t *finding) {
	const char *confidence = js_string_or(finding, "confidence", "low");
	double strength = js_real_or(finding, "strength", 1);
	char gain[48] = "";
	if (strength > 1.005)
		snprintf(gain, sizeof gain, " (up to %.*gx)", strength < 99.5 ? 2 : 3, strength);
	enum ui_style style = strcmp(confidence, "high") == 0     ? UI_BAD
	                      : strcmp(confidence, "medium") == 0 ? UI_NOTE
	                                                          : UI_DIM;
	fprintf(text->out, "%*s%s%-6.6s%s  ", INDENT, "", ui_style(text->ui, style), confidence,
	        ui_style(text->ui, UI_PLAIN));
	ui_wrap_on(text->out, DEEP, DEEP, "%s%s", js_string_or(finding, "sentence", "?"), gain);
	explain_list_print(text, json_object_get(finding, "evidence"), EVIDENCE_SHOWN, DEEP, evidence_print);
	if (text->all || strcmp(confidence, "high") != 0)
		explain_list_print(text, json_object_get(finding, "missing"), EVIDENCE_SHOWN, DEEP, missing_print);
}

/* The evidence of a reading is mostly the times themselves, so that its first line is enough. */
static void reading_print(const struct explain_text *text, const json_t *reading) {
	static const char *const counts[] = {"rows", "series", "points"}; /* what a reading is of, which tells nothing */
	if (text->all) {
		finding_print(text, reading);
		return;
	}
	const json_t *first = json_array_get(json_object_get(reading, "evidence"), 0);
	fprintf(text->out, "%*s%s%-6.6s%s  ", INDENT, "", ui_style(text->ui, UI_DIM),
	        js_string_or(reading, "confidence", "low"), ui_style(text->ui, UI_PLAIN));
	ui_wrap_on(text->out, DEEP, DEEP, "%s", js_string_or(reading, "sentence", "?"));
	if (first && !text_is_one_of(js_string_or(first, "unit", ""), counts))
		evidence_print(text, first);
}

static void explain_text_why(const struct explain_text *text) {
	const json_t *findings = json_object_get(text->result, "diagnoses");
	if (json_array_size(findings) == 0 && json_object_get(text->result, "table"))
		return; /* its laws and readings say what there is to say */
	explain_title(text, "why (confidence of each finding)");
	if (json_array_size(findings) == 0)
		ui_wrap(text->out, INDENT, INDENT, "the measurements do not show what holds it back%s",
		        json_object_get(text->result, "probes") ? "" : "; --probe measures what would refute each cause");
	explain_list_print(text, findings, FINDINGS_SHOWN, INDENT, finding_print);
}

static void explain_text_readings(const struct explain_text *text) {
	const json_t *readings = json_object_get(text->result, "readings");
	const char *silence = js_string_or(text->result, "silence", NULL);
	if (silence) {
		explain_title(text, "what the times show");
		ui_wrap(text->out, INDENT, INDENT, "%s", silence);
	}
	if (json_array_size(readings) == 0)
		return;
	explain_title(text, "what the times show (confidence of each statement)");
	explain_list_print(text, readings, READINGS_SHOWN, INDENT, reading_print);
}

/* A row of the table that somebody brought, whose time is to be filled in; NULL: its header. */
static void row_print(const struct explain_text *text, const json_t *row) {
	fprintf(text->out, "%*s", 2 * INDENT, "");
	js_each (column, js_at(text->result, "source.columns")) {
		const char *name = js_string_or(column, "name", ""), *role = js_string_or(column, "role", "");
		bool value = strcmp(role, "time") == 0 || strcmp(role, "rate") == 0;
		mem_auto char *cell = json_object_get(row, name) ? explain_value_text(json_object_get(row, name))
		                                                 : mem_strdup(row ? value ? "?" : "" : name);
		text_clean(cell, false);
		if (column_at)
			putc(',', text->out);
		csv_write(cell, text->out);
	}
	putc('\n', text->out);
}

static void explain_text_decide(const struct explain_text *text) {
	const json_t *decide = json_object_get(text->result, "decide");
	if (!decide)
		return;
	explain_title(text, "what would decide (rows to fill in)");
	ui_wrap(text->out, INDENT, INDENT, "%s", js_string_or(decide, "why", ""));
	row_print(text, NULL);
	js_each (row, json_object_get(decide, "rows"))
		row_print(text, row);
}

static void next_add(json_t *list, const json_t *one) {
	const char *next = js_string_or(one, "next", "");
	if (*next && !js_has(list, next))
		json_array_append_new(list, json_string(next));
}

/* Each command once. New reference. */
static json_t *commands_of(const json_t *result) {
	static const char *const parts[] = {"diagnoses", "experiments"};
	json_t *list = json_array();
	for (size_t p = 0; p < sizeof parts / sizeof *parts; p++)
		js_each (one, json_object_get(result, parts[p]))
			next_add(list, one);
	next_add(list, json_object_get(result, "roofline"));
	return list;
}

/* Commands are never wrapped, so that they can be copied. */
static void explain_text_next(const struct explain_text *text) {
	js_auto json_t *commands = commands_of(text->result);
	if (json_array_size(commands))
		explain_title(text, "next steps");
	js_each (one, commands) {
		if (one_at >= NEXT_SHOWN && !text->all)
			break;
		mem_auto char *command = mem_strdup(json_string_value(one));
		text_clean(command, false);
		fprintf(text->out, "%*s%s\n", INDENT, "", command);
	}
}

enum { STEPS_SHOWN = 6 };
static char *member_text(const char *name, const json_t *to, const json_t *from) {
	mem_auto char *clean = mem_strdup(name), *now = explain_value_text(to), *was = explain_value_text(from);
	text_clean(clean, false);
	return json_is_null(to)     ? mem_printf("without %s", clean)
	       : json_is_null(from) ? mem_printf("%s=%s", clean, now)
	                            : mem_printf("%s=%s instead of %s", clean, now, was);
}

static char *step_text(const json_t *step) {
	const json_t *was = json_object_get(step, "was");
	char *line = mem_strdup("");
	js_members (name, to, json_object_get(step, "set")) {
		mem_auto char *member = member_text(name, to, json_object_get(was, name));
		mem_append(&line, "%s%s", *line ? ", " : "", member);
	}
	return line;
}

static void step_print(const struct explain_text *text, const json_t *step) {
	mem_auto char *what = step_text(step);
	ui_wrap(text->out, INDENT, INDENT + 22, "%-20s  %s%s", explain_ratio_text(speedup_read(step)).text, what,
	        js_bool_or(step, "measured", false) ? "" : " (predicted)");
}

/* Where the winner is not proven to be faster, neither is any step to it. */
static const char *title_of(const json_t *result) {
	if (verdict_of(result) == VERDICT_TIE)
		return "from the baseline to a setting that is equally fast (one change at a time)";
	if (!verdict_is_decided(result) && !json_object_get(result, "table"))
		return "from the baseline to the best so far (undecided: the steps may be noise)";
	return "what makes it fast (from the baseline, one change at a time)";
}

/* Measured prices take the place of steps from one configuration to the next. */
static void worth_print(const struct explain_text *text) {
	mem_auto char *unneeded = result_not_needed_text(text->result);
	explain_title(text, verdict_is_faster(text->result)
	                        ? "what makes it fast (the time without a change / with all of them)"
	                        : title_of(text->result));
	js_each (price, json_object_get(text->result, "worth")) {
		mem_auto char *words = result_worth_text(price), *line = mem_printf("worth: %s", words);
		ui_wrap(text->out, INDENT, INDENT + 7, "%s", line);
	}
	if (*unneeded)
		fprintf(text->out, "%*snot needed: %s\n", INDENT, "", unneeded);
}

/* The path from the baseline to the winner, one change at a time. */
static void explain_text_path(const struct explain_text *text) {
	const json_t *steps = json_object_get(text->result, "path");
	if (json_array_size(json_object_get(text->result, "worth")))
		worth_print(text);
	else if (json_array_size(steps)) {
		explain_title(text, title_of(text->result));
		explain_list_print(text, steps, STEPS_SHOWN, INDENT, step_print);
	}
}

void explain_print(struct ui *ui, const json_t *result, bool all, FILE *out) {
	const char *refused = NULL;
	const struct explain_text text = {.ui = ui, .out = out, .all = all, .result = result, .refused = &refused};
	head_print(&text);
	explain_text_path(&text);
	explain_text_why(&text);
	explain_text_probes(&text);
	explain_text_readings(&text);
	explain_text_decide(&text);
	explain_text_scaling(&text);
	explain_text_effects(&text);
	others_print(&text);
	explain_text_next(&text);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The table of every kernel is sane. */
#include <ctype.h>
#include <math.h>

#include "tests/kernels/live.h"
#include "tests/kernels/values.h"
#include "tests/tap.h"

static bool is_name(const char *text) {
	static const char accepted[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	return text && islower((unsigned char)*text) && strspn(text, accepted) == strlen(text);
}

static bool is_line(const char *text) {
	return text && *text && !strchr(text, '\n') && text[strlen(text) - 1] != '.';
}

static bool inside(const struct ss_param *param, double r) {
	return param->type == SS_WORD || (param->min == 0 && param->max == 0) || (r >= param->min && r <= param->max);
}

static bool param_sane(const struct ss_param *param, bool tunable) {
	struct values values;
	bool sane = is_name(param->name) && is_line(param->summary) && param->initial && param->min <= param->max;
	if (!sane || (!param->values && !tunable))
		return sane && param->type != SS_WORD && inside(param, strtod(param->initial, NULL));
	if (!values_parse(param, &values))
		return false;
	bool found = false;
	for (int i = 0; i < values.count; i++) {
		const struct ss_value *v = &values.value[i];
		found |= v->w ? strcmp(v->w, param->initial) == 0 : v->r == strtod(param->initial, NULL);
		for (int j = 0; j < i; j++)
			sane &= v->w ? strcmp(v->w, values.value[j].w) != 0 : v->r != values.value[j].r;
		sane &= inside(param, v->r) && (param->type != SS_INT || v->r == floor(v->r));
	}
	return sane && found;
}

static bool known(const struct ss_kernel *kernel, const char *name) {
	static const char *const free_names[] = {"threads", "places", "proc_bind", "schedule", "chunk"};
	for (size_t i = 0; i < sizeof free_names / sizeof *free_names; i++)
		if (strcmp(name, free_names[i]) == 0)
			return true;
	return live_find(kernel->params, name) >= 0 || live_find(kernel->problem, name) >= 0;
}

/* Every name in an expression is a parameter, a part of the problem or a word of the language. */
static bool expression_sane(const struct ss_kernel *kernel, const char *text) {
	static const char language[] = " and or not in True False min max abs ";
	for (const char *at = text; at && *at;) {
		char name[64] = " ", quote = *at;
		size_t size = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		if (quote == '\'' || quote == '"') {
			at = strchr(at + 1, quote);
			if (!at)
				return false;
		} else if (size > 0 && !isdigit((unsigned char)*at)) {
			if (size > sizeof name - 3)
				return false;
			memcpy(name + 1, at, size);
			if (!known(kernel, name + 1) && !strstr(language, strcat(name, " ")))
				return false;
		}
		at += size > 0 ? size : 1;
	}
	return !text || *text;
}

static bool table_names_differ(const struct ss_kernel *kernel) {
	bool differ = true;
	for (int i = 0; kernel->params[i].name; i++) {
		const char *name = kernel->params[i].name;
		differ &= live_find(kernel->params, name) == i && live_find(kernel->problem, name) < 0;
	}
	for (int i = 0; kernel->problem[i].name; i++)
		differ &= live_find(kernel->problem, kernel->problem[i].name) == i;
	return differ;
}

static bool events_sane(const struct ss_kernel *kernel) {
	bool sane = true;
	for (int i = 0; kernel->events && kernel->events[i].name; i++) {
		sane &= i < SS_EVENTS_MAX && is_name(kernel->events[i].name) && is_line(kernel->events[i].summary);
		for (int j = 0; j < i; j++)
			sane &= strcmp(kernel->events[j].name, kernel->events[i].name) != 0;
	}
	return sane;
}

/* "P=V P=V" of its own parameters */
static bool serial_sane(const struct ss_kernel *kernel) {
	char words[256], *rest = NULL;
	bool sane = !kernel->serial || strlen(kernel->serial) < sizeof words;
	snprintf(words, sizeof words, "%s", kernel->serial ? kernel->serial : "");
	for (char *word = strtok_r(words, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		char *equals = strchr(word, '=');
		if (equals)
			*equals = '\0';
		sane &= equals && live_find(kernel->params, word) >= 0;
	}
	return sane;
}

static void check_table(const struct kernel_entry *entry) {
	const struct ss_kernel *k = entry->kernel;
	ok(k->abi == SS_KERNEL_ABI && is_name(k->name) && is_line(k->summary), "%s: version, name and summary", k->name);
	ok(kernel_find_on(kernel_registry, k->name, kernel_device(k)) == entry, "%s is found by its name and device",
	   k->name);
	ok(strlen(entry->source) == 71 && strncmp(entry->source, "sha256:", 7) == 0 &&
	       strspn(entry->source + 7, "0123456789abcdef") == 64,
	   "%s: a hash of its source", k->name);
	ok(k->open && k->setup && k->run && k->verify && k->work && k->teardown &&
	       (k->close || k->input_size == 1 /* which holds nothing */),
	   "%s: all hooks", k->name);
	ok(k->input_size > 0 && k->state_size > 0, "%s: sizes", k->name);
	ok(!(k->flags & SS_SCHEDULE) || (k->flags & SS_OPENMP), "%s: a schedule needs threads", k->name);
	ok(table_names_differ(k), "%s: parameters have different names", k->name);
	ok(events_sane(k), "%s: names and summaries of its events", k->name);
	ok(serial_sane(k), "%s: its serial configuration", k->name);
	for (int i = 0; k->params[i].name; i++) {
		ok(param_sane(&k->params[i], true), "%s: values of %s are distinct, inside its bounds and have its initial one",
		   k->name, k->params[i].name);
		ok(expression_sane(k, k->params[i].when), "%s: condition of %s", k->name, k->params[i].name);
	}
	for (int i = 0; k->problem[i].name; i++)
		ok(param_sane(&k->problem[i], false), "%s: %s is inside its bounds", k->name, k->problem[i].name);
	for (int i = 0; k->constraints && k->constraints[i]; i++)
		ok(expression_sane(k, k->constraints[i]), "%s: constraint %s", k->name, k->constraints[i]);
	ok(expression_sane(k, k->schedule_when) && expression_sane(k, k->unsafe), "%s: conditions of the table", k->name);
}

int main(void) {
	ok(kernel_registry[0].kernel != NULL, "there are kernels");
	ok(!kernel_find("nothing") && !kernel_find(""), "an unknown name finds none");
	for (const struct kernel_entry *entry = kernel_registry; entry->kernel; entry++)
		check_table(entry);
	return tap_done();
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A header for C and C++: a macro for each value, and for each kernel a function from the problem to a configuration.
 * It returns that of the same problem, else that of the range that holds the size, else that of the nearest problem by
 * the product of ratios, which orders problems like the sum of distances of logarithms. libsweetspot's look-up
 * (lib/profile) is not used because the header must work without any library. */
#include <ctype.h>
#include <inttypes.h>
#include <math.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "tuner/export/export.h"
#include "tuner/export/export_impl.h"

/* Names, literals and comments that mean the same in C and C++. */

enum c_type { C_INT, C_REAL, C_WORD };

/* Keywords of C23 and C++23, macros of compilers in their GNU modes, object-like macros of the standard headers. */
static const char reserved[] =
	" alignas alignof and and_eq asm assert auto bitand bitor bool break case catch char char16_t char32_t char8_t "
	"class "
	"co_await co_return co_yield compl complex concept const const_cast consteval constexpr constinit continue "
	"decltype "
	"default delete do double dynamic_cast else enum errno explicit export extern false float for friend goto i386 if "
	"imaginary inline int linux long math_errhandling mutable namespace new noexcept noreturn not not_eq nullptr "
	"operator or "
	"or_eq private protected public register reinterpret_cast requires restrict return setjmp short signed sizeof "
	"stack_t "
	"static static_assert static_cast stderr stdin stdout struct switch template this thread_local throw true try "
	"typedef "
	"typeid typename typeof typeof_unqual union unix unsigned using va_arg va_end va_start virtual void volatile "
	"wchar_t "
	"while xor xor_eq ";

/* Names in capitals usually are macros, and names that begin with "_" belong to the implementation. */
static bool is_safe(const char *name) {
	mem_auto char *word = mem_printf(" %s ", name);
	bool lower = false, known = strstr(reserved, word);
	for (const char *c = name; *c; c++)
		lower = lower || islower((unsigned char)*c);
	return !known && lower && isalpha((unsigned char)*name);
}

/* The name of a member, which is neither a keyword nor a macro of the compiler or a standard header, and is not in
 * `taken`. The caller frees it. */
static char *c_member(const char *text, json_t *taken) {
	js_auto json_t *none = json_object();
	mem_auto char *plain = export_name("", text, none);
	return export_name(is_safe(plain) ? "" : "p_", plain, taken);
}

static enum c_type c_type_of(const json_t *value) {
	return json_is_string(value) ? C_WORD : json_is_real(value) ? C_REAL : C_INT;
}

static void c_real(FILE *out, double value) {
	char text[40];
	snprintf(text, sizeof text, "%.17g", isfinite(value) ? value : 0);
	fprintf(out, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void put_integer(FILE *out, json_int_t value) {
	if (value == INT64_MIN)
		fputs("(-9223372036854775807LL - 1)", out);
	else
		fprintf(out, "%" PRId64 "LL", (int64_t)value);
}

/* Octal escapes end after three digits; "?" could begin a trigraph. */
static void put_string(FILE *out, const char *text) {
	putc('"', out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		if (isascii(*c) && isprint(*c) && !strchr("\"\\?", *c))
			putc(*c, out);
		else
			fprintf(out, "\\%03o", *c);
	putc('"', out);
}

/* Writes the value as this type; value NULL: 0 or "". */
static void c_literal(FILE *out, enum c_type type, const json_t *value) {
	if (type == C_WORD) {
		mem_auto char *text = value ? export_value_text(value) : mem_strdup("");
		put_string(out, text);
	} else if (type == C_REAL) {
		c_real(out, json_is_true(value) ? 1 : json_number_value(value));
	} else {
		put_integer(out, json_is_true(value) ? 1 : json_integer_value(value));
	}
}

/* Asterisks could end the comment, backslashes and "?" could continue it or form a trigraph. */
static void c_comment(FILE *out, const char *text) {
	fputs("/* ", out);
	for (const unsigned char *c = (const unsigned char *)text; *c; c++)
		putc(isascii(*c) && (isalnum(*c) || strchr(" .,:;=+-_()%#/'", *c)) ? *c : '_', out);
	fputs(" */\n", out);
}

/* The results of one kernel and objective, and its ranges. */
struct group {
	char *name;
	const struct profile_entry *first;
	json_t *entries, *sizes; /* arrays; owned */
	json_t *members, *asked; /* {"name as it was": {"type", "name"}} of configurations, of problems */
};

/* of: an entry or a range of sizes */
static bool is_of(const json_t *of, const struct profile_entry *first) {
	return strcmp(js_string_or(of, "kernel", ""), first->kernel) == 0 &&
	       strcmp(js_string_or(of, "objective", ""), first->objective) == 0;
}

/* A member gets the type that holds all its values: words hold anything, reals hold integers. */
static void members_add(json_t *members, const json_t *config, json_t *taken) {
	js_members (key, value, config) {
		json_t *known = json_object_get(members, key);
		enum c_type type = c_type_of(value);
		if (!known) {
			mem_auto char *name = c_member(key, taken);
			json_object_set_new(members, key, json_pack("{s:i, s:s}", "type", (int)type, "name", name));
		} else if ((int)type > js_int_or(known, "type", 0)) {
			json_object_set_new(known, "type", json_integer((int)type));
		}
	}
}

static enum c_type member_type(const json_t *member) {
	return (enum c_type)js_int_or(member, "type", C_WORD);
}

static const json_t *ranges_of(const json_t *sizes) {
	return json_object_get(sizes, "thresholds");
}

static struct group group_new(const struct profile *profile, const struct profile_entry *first, json_t *taken) {
	bool time = strcmp(first->objective, "time") == 0;
	mem_auto char *text = mem_printf("%s%s%s", first->kernel, time ? "" : "_", time ? "" : first->objective);
	struct group group = {
		export_name("sweetspot_", text, taken), first, json_array(), json_array(), json_object(), json_object()};
	js_auto json_t *names = json_object(), *problems = json_object();
	size_t i;
	for (i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		if (!is_of(entry->json, first))
			continue;
		json_array_append(group.entries, (json_t *)entry->json);
		members_add(group.members, entry->config, names);
		members_add(group.asked, entry->problem, problems);
	}
	js_each (one, profile->sizes) {
		const json_t *over = json_object_get(group.asked, js_string_or(one, "over", ""));
		if (!is_of(one, first) || !over || member_type(over) == C_WORD || !json_array_size(ranges_of(one)))
			continue;
		json_array_append(group.sizes, one);
		js_each (range, ranges_of(one))
			members_add(group.members, json_object_get(range, "config"), names);
	}
	return group;
}

static void group_free(struct group *group) {
	json_decref(group->entries);
	json_decref(group->sizes);
	json_decref(group->members);
	json_decref(group->asked);
	free(group->name);
}

static const char *type_word(enum c_type type) {
	static const char *const words[] = {[C_INT] = "long long ", [C_REAL] = "double ", [C_WORD] = "const char *"};
	return words[type];
}

static void put_struct(FILE *out, const struct group *group) {
	fprintf(out, "struct %s {\n", group->name);
	js_members (key, member, group->members)
		fprintf(out, "\t%s%s;\n", type_word(member_type(member)), js_string_or(member, "name", ""));
	if (!json_object_size(group->members))
		fputs("\tint nothing;\n", out);
	fputs("};\n", out);
}

static void put_config(FILE *out, const struct group *group, const json_t *config) {
	const char *between = "\t\t{";
	js_members (key, member, group->members) {
		fputs(between, out);
		c_literal(out, member_type(member), json_object_get(config, key));
		between = ", ";
	}
	fputs(json_object_size(group->members) ? "},\n" : "\t\t{0},\n", out);
}

static void put_macros(FILE *out, const struct profile_entry *entry, json_t *taken) {
	js_auto json_t *none = json_object();
	mem_auto char *prefix = export_entry_name("SWEETSPOT_", entry, none);
	js_members (key, value, entry->config) {
		mem_auto char *text = mem_printf("%s_%s", prefix, key);
		export_upper(text);
		mem_auto char *name = export_name("", text, taken);
		fprintf(out, "#define %s ", name);
		c_literal(out, c_type_of(value), value);
		putc('\n', out);
	}
}

/* The number of members of problems that are words, or that are not. */
static size_t asked_count(const struct group *group, bool words) {
	size_t count = 0;
	js_members (key, member, group->asked)
		count += (member_type(member) == C_WORD) == words;
	return count;
}

/* The place of a number among the numbers of the problem. */
static size_t asked_place(const struct group *group, const char *over) {
	size_t place = 0;
	js_members (key, member, group->asked) {
		if (strcmp(key, over) == 0)
			break;
		place += member_type(member) != C_WORD;
	}
	return place;
}

static void put_problem(FILE *out, const struct group *group, const json_t *problem, bool words) {
	const char *between = "\t\t{";
	js_members (key, member, group->asked) {
		if ((member_type(member) == C_WORD) != words)
			continue;
		fputs(between, out);
		c_literal(out, words ? C_WORD : C_REAL, json_object_get(problem, key));
		between = ", ";
	}
	fputs("},\n", out);
}

/* The problems as arrays, numbers and words apart, and the problem that is asked for. */
static void put_problems(FILE *out, const struct group *group, bool words) {
	size_t count = asked_count(group, words);
	const char *type = words ? "char *const" : "double", *name = words ? "word" : "number", *between = "";
	if (!count)
		return;
	fprintf(out, "\tstatic const %s %ss[%zu][%zu] = {\n", type, name, json_array_size(group->entries), count);
	js_each (one, group->entries)
		put_problem(out, group, json_object_get(one, "problem"), words);
	fprintf(out, "\t};\n\tconst %s %s[%zu] = {", type, name, count);
	js_members (key, one, group->asked) {
		if ((member_type(one) == C_WORD) != words)
			continue;
		fprintf(out, "%sp_%s", between, js_string_or(one, "name", ""));
		between = ", ";
	}
	fputs("};\n", out);
}

static void put_configs(FILE *out, const struct group *group, const char *name, const json_t *list) {
	fprintf(out, "\tstatic const struct %s %s[%zu] = {\n", group->name, name, json_array_size(list));
	js_each (one, list)
		put_config(out, group, json_object_get(one, "config"));
	fputs("\t};\n", out);
}

/* The border between two ranges is the geometric mean of the sizes on both sides. */
static double range_end(const json_t *ranges, size_t i) {
	double to = js_real_or(json_array_get(ranges, i), "to", 1),
		   next = js_real_or(json_array_get(ranges, i + 1), "from", to);
	return sqrt(to) * sqrt(next);
}

/* The ranges apply only if the other members of the problem are equal. */
static void put_ranges(FILE *out, const struct group *group, const json_t *sizes) {
	const json_t *ranges = ranges_of(sizes), *rest = json_object_get(sizes, "problem");
	size_t place = asked_place(group, js_string_or(sizes, "over", "")), count = json_array_size(ranges), numbers = 0,
		   words = 0;
	fputs("\tif (number[", out);
	fprintf(out, "%zu] > 0", place);
	js_members (key, member, group->asked) {
		bool word = member_type(member) == C_WORD;
		size_t at = word ? words++ : numbers++;
		if (strcmp(key, js_string_or(sizes, "over", "")) == 0)
			continue;
		fprintf(out, word ? " && strcmp(word[%zu], " : " && sweetspot_ratio(number[%zu], ", at);
		c_literal(out, word ? C_WORD : C_REAL, json_object_get(rest, key));
		fputs(word ? ") == 0" : ") <= 1.0", out);
	}
	fputs(") {\n", out);
	put_configs(out, group, "ranges", ranges);
	for (size_t i = 0; i + 1 < count; i++) {
		fprintf(out, "\t\tif (number[%zu] <= ", place);
		c_real(out, range_end(ranges, i));
		fprintf(out, ")\n\t\t\treturn &ranges[%zu];\n", i);
	}
	fprintf(out, "\t\treturn &ranges[%zu];\n\t}\n", count - 1);
}

static void put_head(FILE *out, const struct group *group) {
	const char *between = "";
	fprintf(out, "static inline const struct %s *%s_for(", group->name, group->name);
	js_members (key, member, group->asked) {
		fprintf(out, "%s%sp_%s", between, member_type(member) == C_WORD ? "const char *" : "double ",
		        js_string_or(member, "name", ""));
		between = ", ";
	}
	fputs(*between ? ")\n{\n" : "void)\n{\n", out);
}

static void put_search(FILE *out, const struct group *group) {
	size_t numbers = asked_count(group, false), words = asked_count(group, true);
	fprintf(out,
	        "\tdouble least = -1.0;\n\tint nearest = 0;\n\tfor (int i = 0; i < %zu; i++) {\n\t\tdouble far = 1.0;\n",
	        json_array_size(group->entries));
	if (numbers)
		fprintf(out, "\t\tfor (int j = 0; j < %zu; j++)\n\t\t\tfar *= sweetspot_ratio(numbers[i][j], number[j]);\n",
		        numbers);
	if (words)
		fprintf(out,
		        "\t\tfor (int j = 0; j < %zu; j++)\n\t\t\tfar *= strcmp(words[i][j], word[j]) == 0 ? 1.0 : 1e100;\n",
		        words);
	fputs("\t\tif (least < 0.0 || far < least) {\n\t\t\tleast = far;\n\t\t\tnearest = i;\n\t\t}\n\t}\n", out);
	if (json_array_size(group->sizes))
		fputs("\tif (least <= 1.0)\n\t\treturn &known[nearest];\n", out);
	js_each (sizes, group->sizes)
		put_ranges(out, group, sizes);
	fputs("\treturn &known[nearest];\n}\n", out);
}

static void put_group(FILE *out, const struct profile *profile, const struct group *group, json_t *macros) {
	putc('\n', out);
	for (size_t i = 0; i < profile->count; i++) {
		const struct profile_entry *entry = &profile->entries[i];
		if (!is_of(entry->json, group->first))
			continue;
		mem_auto char *title = export_title_text(entry);
		c_comment(out, title);
		if (strcmp(entry->state, "stale") == 0)
			c_comment(out, "stale: the kernel's source has changed since this was measured");
		put_macros(out, entry, macros);
	}
	put_struct(out, group);
	put_head(out, group);
	put_configs(out, group, "known", group->entries);
	put_problems(out, group, false);
	put_problems(out, group, true);
	if (json_object_size(group->asked))
		put_search(out, group);
	else
		fputs("\treturn &known[0];\n}\n", out);
}

static void put_groups(FILE *out, const struct profile *profile) {
	js_auto json_t *taken = json_pack("{s:b}", "sweetspot_ratio", 1), *macros = json_object();
	for (size_t i = 0; i < profile->count; i++) {
		bool known = false;
		for (size_t k = 0; k < i; k++)
			known = known || is_of(profile->entries[k].json, &profile->entries[i]);
		if (known)
			continue;
		struct group group = group_new(profile, &profile->entries[i], taken);
		put_group(out, profile, &group, macros);
		group_free(&group);
	}
}

static int c_write(const struct profile *profile, FILE *out, struct err *err) {
	const char *fingerprint = profile->machine.fingerprint;
	const char *hash = strchr(fingerprint, ':');
	js_auto json_t *none = json_object();
	mem_auto char *guard = export_name("SWEETSPOT_PROFILE_", hash ? hash + 1 : fingerprint, none);
	c_comment(
		out,
		"Sweetspot's recommendations for one machine: sweetspot_KERNEL_for(PROBLEM) gives the configuration of this");
	c_comment(out, "problem, else of its range of sizes, else of the nearest problem. Missing members are 0 or empty.");
	c_comment(out, fingerprint);
	fprintf(out, "#ifndef %s_H\n#define %s_H\n#include <string.h>\n\n", guard, guard);
	fputs("static inline double sweetspot_ratio(double a, double b)\n{\n"
	      "\tif (a >= b && a <= b)\n\t\treturn 1.0;\n"
	      "\treturn a > 0.0 && b > 0.0 ? (a > b ? a / b : b / a) : 1e100;\n}\n",
	      out);
	put_groups(out, profile);
	fputs("\n#endif\n", out);
	return export_end(out, "header", err);
}

const struct export_format export_c = {
	.name = "c",
	.summary = "a header for C and C++: constants, and a function from the problem to its configuration",
	.write = c_write,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <limits.h>
#include <string.h>

#include "base/near.h"
#include "src/cmd/profile/verb.h"

static const struct opt options[] = {
	OPT_GROUP("show, verify"),
	{"kernel", 0, "NAME", "only this kernel, or this plug-in's", OPT_REPEAT},
	OPT_GROUP("merge, import"),
	{"output", 'o', "FILE", "merge: file to write, or folder for several machines", 0},
	{"prefer", 0, "WORD", "entry to keep in a conflict: newest or faster", 0},
	OPT_GROUP("select"),
	{"profile", 0, "FILE", "profile instead of the store", 0},
	{"objective", 0, "NAME", "time, energy or edp (time)", 0},
	OPT_GROUP("verify, select"),
	{"force", 0, NULL, "also use the profile of another machine", 0},
	OPT_GROUP("verify"),
	{"programs", 0, NULL, "also run the programs that FILE names", 0},
	{"pairs", 0, "N", "minimum number of pairs in a duel (21)", 0},
	{"max-pairs", 0, "N", "maximum number, while a duel is undecided (101)", 0},
	{"timeout", 0, "SECONDS", "time limit of a trial (600)", 0},
	{"seed", 0, "N", "random seed of the input and the comparisons (1)", 0},
	{"ci", 0, NULL, "also exit with 1 if slower than recorded", 0},
	{"fail-slower", 0, "P%", "with --ci: tolerated slowdown (5 %)", 0},
	{"junit", 0, "FILE", "write the outcomes as JUnit XML", 0},
	OPT_GROUP("all verbs"),
	{0},
};

static const struct verb {
	const char *name, *example;
	size_t least, most; /* the number of words after it */
	profile_run *run;
	const char *options[12]; /* the options that the verb accepts, among those above and --store */
} verbs[] = {
	{"show", "sweetspot profile show [FILE...]", 0, SIZE_MAX, profile_show, {"kernel", "store"}},
	{"diff", "sweetspot profile diff OLD.json NEW.json", 1, 2, profile_diff_run, {"store"}},
	{"merge",
     "sweetspot profile merge a.json b.json -o all.json",
     1,
     SIZE_MAX,
     profile_merge_run,
     {"output", "prefer"}},
	{"import", "sweetspot profile import cluster.json", 1, SIZE_MAX, profile_import_run, {"prefer"}},
	{"verify",
     "sweetspot profile verify [FILE]",
     0,
     1,
     profile_verify,
     {"kernel", "store", "force", "programs", "pairs", "max-pairs", "timeout", "seed", "ci", "fail-slower", "junit"}},
	{"select",
     "sweetspot profile select fw n=700",
     1,
     SIZE_MAX,
     profile_select_run,
     {"profile", "objective", "store", "force"}},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

static int unknown(const char *word, struct err *err) {
	const char *names[VERBS];
	for (size_t i = 0; i < VERBS; i++)
		names[i] = verbs[i].name;
	const char *near = near_word(word, names, VERBS);
	err_set(err, ERR_USAGE, "the verbs are show, diff, merge, import, verify and select",
	        "unknown verb: `sweetspot profile %s`", word);
	return near ? err_hint(err, "did you mean `sweetspot profile %s`?", near) : -1;
}

static int option_check(const struct verb *verb, const char *name, struct err *err) {
	for (const char *const *known = verb->options; *known; known++)
		if (strcmp(*known, name) == 0)
			return 0;
	return err_set(err, ERR_USAGE, "`sweetspot profile --help` lists the options of each verb",
	               "--%s is not an option of `profile %s`", name, verb->name);
}

static int check(const struct verb *verb, const struct opt_args *args, struct err *err) {
	size_t words = opt_words(args) ? opt_words(args) - 1 : 0;
	for (const struct opt *option = options; option->name; option++)
		if (opt_has(args, option->name) && option_check(verb, option->name, err))
			return -1;
	if (opt_has(args, "store") && option_check(verb, "store", err))
		return -1;
	if (words < verb->least || words > verb->most)
		return err_set(err, ERR_USAGE, verb->example, "too %s words for `profile %s`",
		               words < verb->least ? "few" : "many", verb->name);
	return 0;
}

static int run(struct app *app, const struct opt_args *args, struct err *err) {
	const char *word = opt_words(args) ? opt_word(args, 0) : "show";
	for (size_t i = 0; i < VERBS; i++)
		if (strcmp(word, verbs[i].name) == 0)
			return check(&verbs[i], args, err) ? -1 : verbs[i].run(app, args, err);
	return unknown(word, err);
}

static const struct opt *const tables[] = {options, cmd_device_options, cmd_store_options, NULL};

const struct cmd cmd_profile = {
	.name = "profile",
	.summary = "show, compare, merge, verify and look up recommendations",
	.usage = "profile [show] [FILE...]\n"
			 "profile diff OLD [NEW]\n"
			 "profile merge FILE... [-o FILE]\n"
			 "profile import FILE...\n"
			 "profile verify [FILE]\n"
			 "profile select KERNEL P=V...",
	.options = tables,
	.notes = "show    Recommendations, and whether they fit this machine, compiler and kernel.\n"
			 "diff    Changes between two profiles: machine, configurations, times, verdicts.\n"
			 "merge   Profiles of one machine into one file, of several into a folder.\n"
			 "import  Profiles of any machine into the folder in which programs look.\n"
			 "verify  Measures each recommendation again; exits with 1 if one no longer holds.\n"
			 "        Programs of the store run in the folder where they were tuned.\n"
			 "select  The configuration for a problem, and the time to expect.\n"
			 "FILE may also be a folder of profiles; without one, the store is read.",
	.examples = "sweetspot profile\n"
				"sweetspot profile verify --ci --junit sweetspot.xml\n"
				"sweetspot profile select fw n=700",
	.run = run,
};

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The OpenMP settings as parameters. */
#include <config.h>

#include <string.h>

#include "base/near.h"
#include "src/plan/params.h"
#include "src/plan/program_plan_impl.h"
#include "tuner/space/domain.h"

const struct setting program_settings[SETTINGS] = {
	{.name = "threads", .summary = "size of the team, as OMP_NUM_THREADS", .min = 1, .max = 1 << 16},
	{.name = "proc_bind",
     .summary = "binding of threads to places, as OMP_PROC_BIND",
     .values = "false,close,spread,primary",
     .words = "false,close,spread,primary"},
	{.name = "places",
     .summary = "kind of places, as OMP_PLACES",
     .values = "threads,cores,ll_caches,numa_domains,sockets",
     .when = "proc_bind != 'false'",
     .words = "threads,cores,ll_caches,numa_domains,sockets"},
	{.name = "schedule",
     .summary = "schedule of schedule(runtime) loops, as OMP_SCHEDULE",
     .values = "default,static,dynamic,guided",
     .when = "threads > 1",
     .words = "default,static,dynamic,guided,auto",
     .needs = NEEDS_SCHEDULE},
	{.name = "chunk",
     .summary = "iterations per chunk, as in OMP_SCHEDULE; 0 if none is given",
     .values = "0,1,4,16,64,256",
     .when = "schedule in ('static', 'dynamic', 'guided')",
     .max = 1 << 30,
     .needs = NEEDS_SCHEDULE},
	{.name = "wait_policy",
     .summary = "behaviour of waiting threads, as OMP_WAIT_POLICY",
     .values = "default,active,passive",
     .when = "threads > 1",
     .words = "default,active,passive"},
	{.name = "spincount",
     .summary = "rounds that waiting threads spin, as GOMP_SPINCOUNT",
     .values = "default,0,1000,30000,1000000",
     .when = "wait_policy == 'default'",
     .words = "default,infinite,infinity",
     .max = INT64_MAX,
     .needs = NEEDS_GOMP},
	{.name = "blocktime",
     .summary = "milliseconds that waiting threads spin, as KMP_BLOCKTIME",
     .values = "default,0,1,10,infinite",
     .when = "wait_policy == 'default'",
     .words = "default,infinite",
     .max = INT32_MAX,
     .needs = NEEDS_LLVM},
};

static const struct setting *program_setting_find(const char *name) {
	for (size_t i = 0; i < SETTINGS; i++)
		if (strcmp(program_settings[i].name, name) == 0)
			return &program_settings[i];
	return NULL;
}

/* The text after "P=" of the last --range or --set for this parameter. */
static const char *given(const struct draft *draft, const char *option, const char *name) {
	size_t length = strlen(name);
	for (size_t i = opt_count(draft->args, option); i-- > 0;) {
		const char *text = opt_at(draft->args, option, i);
		if (strncmp(text, name, length) == 0 && text[length] == '=')
			return text + length + 1;
	}
	return NULL;
}

static bool is_word_of(const char *words, const char *word) {
	size_t length = strlen(word);
	for (const char *at = words; at && *at; at += strcspn(at, ",") + (at[strcspn(at, ",")] == ','))
		if (strcspn(at, ",") == length && strncmp(at, word, length) == 0)
			return true;
	return false;
}

static int value_check(const struct setting *setting, struct value value, struct err *err) {
	char text[64];
	if (value.type == VALUE_WORD
	        ? is_word_of(setting->words, value.as.w)
	        : value.type == VALUE_INT && setting->max && value.as.i >= setting->min && value.as.i <= setting->max)
		return 0;
	value_text(value, text, sizeof text);
	err_set(err, ERR_USAGE, NULL, "%s cannot be \"%s\"", setting->name, text);
	if (setting->max && setting->words)
		return err_hint(err, "it must be a whole number of at least %lld, or one of %s", setting->min, setting->words);
	if (setting->max)
		return err_hint(err, "it must be a whole number from %lld to %lld", setting->min, setting->max);
	return err_hint(err, "the values are %s", setting->words);
}

static int domain_read(struct draft *draft, struct draft_param *param, const char *text, struct err *err) {
	if (domain_parse(text, draft->plan->arena, &param->values, &param->count, err))
		return err_prefix(err, "%s", param->name);
	for (size_t i = 0; i < param->count; i++)
		if (value_check(param->setting, param->values[i], err))
			return -1;
	return 0;
}

static int setting_add(struct draft *draft, const struct setting *setting, struct err *err) {
	const char *set = given(draft, "set", setting->name), *range = given(draft, "range", setting->name);
	struct draft_param *param = draft_param_new(draft, setting->name, err);
	const char *text = set ? set : range ? range : setting->values;
	if (!param)
		return -1;
	if (!text) /* only threads, whose values depend on the machine */
		text = params_thread_counts(draft->plan->arena, draft->topo, opt_has(draft->args, "oversubscribe"));
	param->setting = setting;
	param->when = setting->when;
	if (domain_read(draft, param, text, err))
		return -1;
	if (set && param->count != 1)
		return err_set(err, ERR_USAGE, "use --range to try several values", "--set %s takes one value, not %zu",
		               setting->name, param->count);
	param->held = set != NULL;
	param->initial = param->values[0];
	return 0;
}

/* A setting that the user names is always tuned; others only if the program can be affected by them. */
static bool setting_wanted(const struct draft *draft, const struct setting *setting) {
	if (given(draft, "set", setting->name) || given(draft, "range", setting->name))
		return true;
	if (setting->needs & NEEDS_SCHEDULE)
		return draft->found.schedule != OPENMP_SCHEDULE_NONE || given(draft, "set", "schedule") ||
		       given(draft, "range", "schedule") || given(draft, "set", "chunk") || given(draft, "range", "chunk");
	return !setting->needs || (setting->needs & NEEDS_GOMP && draft->found.runtime == OPENMP_GOMP) ||
	       (setting->needs & NEEDS_LLVM && draft->found.runtime == OPENMP_LLVM);
}

static int names_check(struct draft *draft, const char *option, struct err *err) {
	const char *names[SETTINGS], *value;
	for (size_t i = 0; i < SETTINGS; i++)
		names[i] = program_settings[i].name;
	for (size_t i = 0; i < opt_count(draft->args, option); i++) {
		const char *name = draft_name(draft, option, opt_at(draft->args, option, i), &value, err);
		if (!name)
			return -1;
		if (draft->plan->program.openmp && program_setting_find(name))
			continue;
		const char *near = draft->plan->program.openmp ? near_word(name, names, SETTINGS) : NULL;
		err_set(err, ERR_USAGE, "it applies to the parameters of --openmp; use --param and --default for your own",
		        "--%s: unknown parameter \"%.100s\"", option, name);
		return near ? err_hint(err, "did you mean %s?", near) : -1;
	}
	return 0;
}

static bool loads_runtime(const struct draft *draft) {
	return draft->found.runtime == OPENMP_GOMP || draft->found.runtime == OPENMP_LLVM;
}

static const char *runtime_name(const struct draft *draft) {
	return draft->found.runtime == OPENMP_GOMP ? "libgomp" : "LLVM's OpenMP runtime";
}

int draft_openmp_decide(struct draft *draft, struct err *err) {
	bool *openmp = &draft->plan->program.openmp;
	*openmp = opt_has(draft->args, "openmp");
	if (*openmp && draft->found.runtime == OPENMP_NONE)
		draft_note(
			draft,
			"%s does not load an OpenMP runtime, so OpenMP variables will hardly matter; --param NAME=A,B,.. tunes "
			"{NAME} in the command",
			draft->what);
	if (*openmp || opt_count(draft->args, "param"))
		return 0;
	if (!loads_runtime(draft) && opt_has(draft->args, "ranks"))
		return 0;
	if (!loads_runtime(draft))
		return err_set(err, ERR_USAGE,
		               "--openmp tunes its environment, --param NAME=A,B,.. tunes {NAME} in the command",
		               "nothing to tune: give --openmp or --param");
	*openmp = true;
	draft_note(draft, "%s loads %s, so its OpenMP settings are tuned as with --openmp", draft->what,
	           runtime_name(draft));
	return 0;
}

int draft_openmp(struct draft *draft, struct err *err) {
	if (names_check(draft, "set", err) || names_check(draft, "range", err))
		return -1;
	for (size_t i = 0; i < SETTINGS && draft->plan->program.openmp; i++) {
		const struct setting *setting = &program_settings[i];
		if (setting_wanted(draft, setting)) {
			if (setting_add(draft, setting, err))
				return -1;
		} else if (strcmp(setting->name, "schedule") == 0) {
			draft_note(draft, "OMP_SCHEDULE is not tuned because %s does not contain a schedule(runtime) loop",
			           draft->what);
		}
	}
	return 0;
}

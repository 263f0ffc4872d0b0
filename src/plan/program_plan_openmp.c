/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The OpenMP settings, and the ranks of MPI, as parameters. */
#include "base/proc/work.h"
#include "src/plan/params.h"
#include "src/plan/plan_impl.h"

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
	const char *set = params_given(draft->args, "set", setting->name),
			   *range = params_given(draft->args, "range", setting->name);
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
	if (params_given(draft->args, "set", setting->name) || params_given(draft->args, "range", setting->name))
		return true;
	if (setting->needs & NEEDS_SCHEDULE)
		return draft->found.schedule != OPENMP_SCHEDULE_NONE || params_given(draft->args, "set", "schedule") ||
		       params_given(draft->args, "range", "schedule") || params_given(draft->args, "set", "chunk") ||
		       params_given(draft->args, "range", "chunk");
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
		return opt_refuse(err, name, names, draft->plan->program.openmp ? SETTINGS : 0, "did you mean %s?",
		                  "it applies to the parameters of --openmp; use --param and --default for your own",
		                  "--%s: unknown parameter \"%.100s\"", option, name);
	}
	return 0;
}

/* The processors of an allocation of several nodes, such as "2(x2),4" for three of them; 0: there is none. */
static int allocated(void) {
	enum { MOST = 1 << 24 };
	const char *text = getenv("SLURM_JOB_CPUS_PER_NODE"), *nodes = getenv("SLURM_JOB_NUM_NODES");
	int sum = 0, used, processors, times;
	if (!text || !nodes || atoi(nodes) < 2)
		return 0;
	for (; sscanf(text, "%6d%n", &processors, &used) == 1 && processors > 0 && sum < MOST; text += *text == ',') {
		text += used;
		times = 1;
		if (sscanf(text, "(x%6d)", &times) == 1)
			text += strcspn(text, ",");
		sum += processors * (times > 0 && times < MOST / processors ? times : 1);
	}
	return sum;
}

/* A configuration may span the nodes of the job in which the search runs. */
static int processors(const struct draft *draft, enum topo_level level) {
	int here = topo_count(draft->topo, level), all = allocated();
	return all ? (int)((long)all * here / topo_count(draft->topo, TOPO_PU)) : here;
}

/* More ranks than that would share processors. */
static int most_ranks(const struct draft *draft) {
	return processors(draft, draft->launcher->per_core ? TOPO_CORE : TOPO_PU);
}

static int ranks_add(struct draft *draft, struct err *err) {
	const char *text = opt_get(draft->args, "ranks", NULL);
	struct draft_param *param = draft_param_new(draft, "ranks", err);
	size_t kept = 0;
	int most = most_ranks(draft);
	if (!param || domain_parse(text, draft->plan->arena, &param->values, &param->count, err))
		return err_prefix(err, "--ranks");
	for (size_t i = 0; i < param->count; i++) {
		if (param->values[i].type != VALUE_INT || param->values[i].as.i < 1)
			return err_set(err, ERR_USAGE, "write --ranks 1..8, --ranks 1..64*2 or --ranks 1,2,4",
			               "--ranks %.100s: the numbers of ranks must be whole and at least 1", text);
		if (param->values[i].as.i <= most)
			param->values[kept++] = param->values[i];
	}
	if (!kept)
		return err_set(err, ERR_USAGE, "try fewer ranks", "--ranks %.100s: there are only %d processors for ranks here",
		               text, most);
	if (kept < param->count)
		draft_note(draft, "more than %d ranks are left out: there are no more processors for them", most);
	param->count = kept;
	param->initial = param->values[0];
	return 0;
}

static int bind_add(struct draft *draft, const struct bind *bind, struct err *err) {
	struct draft_param *param = draft_param_new(draft, bind->name, err);
	const char *values = draft->plan->program.openmp ? bind->team : bind->alone;
	if (!param || domain_parse(values, draft->plan->arena, &param->values, &param->count, err))
		return -1;
	param->initial = param->values[0];
	return 0;
}

static int ranks_params(struct draft *draft, struct err *err) {
	if (!draft->launcher)
		return 0;
	if (ranks_add(draft, err))
		return -1;
	for (size_t i = 0; i < BINDS && draft->launcher->binds[i].name; i++)
		if (bind_add(draft, &draft->launcher->binds[i], err))
			return -1;
	return 0;
}

/* The parameter that is the number of ranks; NULL: there is none. */
static const char *ranks_param(const struct draft *draft) {
	mem_auto char *word = work_ranks(draft->plan->program.argv);
	const char *found = NULL;
	for (size_t i = 0; word && i < draft->count; i++) {
		size_t length = strlen(draft->params[i].name);
		if (*word == '{' && strncmp(word + 1, draft->params[i].name, length) == 0 &&
		    strcmp(word + 1 + length, "}") == 0)
			found = draft->params[i].name;
	}
	return found;
}

int draft_ranks_limit(struct draft *draft, struct space *space, struct err *err) {
	const char *ranks = ranks_param(draft);
	struct arena *arena = draft->plan->arena;
	if (!ranks || !draft->plan->program.openmp)
		return 0;
	const char *all = arena_printf(arena, "%s * threads <= %d", ranks, processors(draft, TOPO_PU));
	if (space_add_constraint(space, all, err))
		return -1;
	for (size_t i = 0; draft->launcher && i < BINDS && draft->launcher->binds[i].name; i++) {
		const struct bind *bind = &draft->launcher->binds[i];
		const char *bound = bind->limit ? arena_printf(arena, "%s != '%s' or %s * threads <= %d", bind->name,
		                                               bind->limit, ranks, processors(draft, TOPO_CORE))
		                                : NULL;
		if (bound && space_add_constraint(space, bound, err))
			return -1;
	}
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
	return ranks_params(draft, err);
}

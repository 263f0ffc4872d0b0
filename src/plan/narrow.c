/* SPDX-License-Identifier: GPL-3.0-or-later */
/* On a busy machine, a setting may win only because it leaves to others what they use anyway: fewer threads, or a team
 * on fewer cores. */
#include "src/plan/plan.h"

#include <ctype.h>
#include <strings.h>

#include "base/json/js.h"
#include "tuner/program/program.h"

enum { CPUS = 4096 /* more are not looked at */, THREADS_MOST = 1 << 16, WORD = 64 };

struct width {
	int processors, cores;
};

/* A team as OpenMP gets it. */
struct team {
	int threads;
	char bind[WORD], places[WORD]; /* "" if not given */
};

static int least(int a, int b) {
	return a < b ? a : b;
}

static void cpus_mark(const struct topo_binding *binding, int threads, bool used[CPUS]) {
	int cpus[CPUS];
	for (int i = 0; i < threads; i++)
		for (size_t c = topo_binding_cpus(binding, i, cpus, CPUS); c-- > 0;)
			if (c < CPUS && cpus[c] >= 0 && cpus[c] < CPUS)
				used[cpus[c]] = true;
}

static int cores_count(const struct topo *topo, const bool used[CPUS]) {
	int all = topo_count(topo, TOPO_CORE), count = 0, cpus[CPUS];
	struct topo_binding *each = topo_binding_new(topo, all, "cores", "close", NULL);
	for (int core = 0; each && core < all; core++) {
		bool any = false;
		for (size_t c = topo_binding_cpus(each, core, cpus, CPUS); c-- > 0;)
			any = any || (c < CPUS && cpus[c] >= 0 && cpus[c] < CPUS && used[cpus[c]]);
		count += any;
	}
	topo_binding_free(each);
	return count;
}

static int used_count(const bool used[CPUS]) {
	int count = 0;
	for (size_t i = 0; i < CPUS; i++)
		count += used[i];
	return count;
}

/* As wide as it can be where the places are not known. */
static struct width width_of(const struct topo *topo, const struct team *team) {
	struct width all = {topo_count(topo, TOPO_PU), topo_count(topo, TOPO_CORE)};
	const char *bind = *team->bind ? team->bind : *team->places ? "close" : "false";
	bool used[CPUS] = {false};
	struct topo_binding *binding =
		strcmp(bind, "false") == 0
			? NULL
			: topo_binding_new(topo, team->threads, *team->places ? team->places : "cores", bind, NULL);
	if (binding) {
		cpus_mark(binding, least(team->threads, CPUS), used);
		all = (struct width){used_count(used), cores_count(topo, used)};
	}
	topo_binding_free(binding);
	return (struct width){least(team->threads, all.processors), least(team->threads, all.cores)};
}

static bool is_variable(const json_t *program, const char *name) {
	return strcmp(js_string_or(json_object_get(program, "params"), name, ""), "environment") == 0;
}

/* The value of a variable in a run of this configuration; false if it is unset. The first item of a list, in lower
 * case. */
static bool variable_read(const json_t *program, const json_t *config, const char *name, char word[WORD]) {
	mem_auto char *own = is_variable(program, name) ? program_value_text(json_object_get(config, name)) : NULL;
	const char *text = is_variable(program, name) ? own : getenv(name);
	snprintf(word, WORD, "%.*s", text ? (int)strcspn(text, ",") : 0, text ? text : "");
	for (char *c = word; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	if (strcmp(word, PROGRAM_UNSET) == 0)
		*word = '\0';
	return *word;
}

static int whole(const char *text) {
	char *end;
	long number = strtol(text, &end, 10);
	return *text && !*end && number > 0 && number < THREADS_MOST ? (int)number : 0;
}

static struct team team_of_variables(const struct topo *topo, const json_t *program, const json_t *config) {
	struct team team = {.threads = topo_count(topo, TOPO_PU)};
	char word[WORD];
	if (variable_read(program, config, "OMP_NUM_THREADS", word) && whole(word))
		team.threads = whole(word);
	variable_read(program, config, "OMP_PLACES", team.places);
	if (variable_read(program, config, "OMP_PROC_BIND", word))
		snprintf(team.bind, WORD, "%s", strcmp(word, "true") == 0 ? "close" : word);
	return team;
}

/* Serial variants of a kernel have no team. */
static struct team team_of(const struct topo *topo, const json_t *program, const json_t *config) {
	if (program && !js_bool_or(program, "openmp", false))
		return team_of_variables(topo, program, config);
	json_int_t threads = js_int_or(config, "threads", 1);
	struct team team = {.threads = threads > 0 && threads < THREADS_MOST ? (int)threads : 1};
	snprintf(team.bind, WORD, "%s", js_string_or(config, "proc_bind", ""));
	snprintf(team.places, WORD, "%s", js_string_or(config, "places", ""));
	return team;
}

static bool ends_in(const char *name, const char *end) {
	size_t length = strlen(name), size = strlen(end);
	return length >= size && strcasecmp(name + length - size, end) == 0;
}

static bool counts_threads(const char *name) {
	return ends_in(name, "threads") || ends_in(name, "thread_limit") || strcmp(name, "GOMAXPROCS") == 0;
}

/* Libraries that use all processors if nothing tells them how many. */
static bool means_all(const char *name) {
	static const char *const names[] = {"OMP_NUM_THREADS",     "OPENBLAS_NUM_THREADS", "GOTO_NUM_THREADS",
	                                    "MKL_NUM_THREADS",     "NUMEXPR_NUM_THREADS",  "RAYON_NUM_THREADS",
	                                    "MAGICK_THREAD_LIMIT", "GOMAXPROCS",           NULL};
	return opt_is_known(name, names);
}

/* The threads of a parameter that counts them; 0: unknown. */
static int count_of(const struct topo *topo, const json_t *config, const char *name) {
	int all = topo_count(topo, TOPO_PU);
	mem_auto char *text = program_value_text(json_object_get(config, name));
	bool is_unset = text && strcmp(text, PROGRAM_UNSET) == 0;
	return is_unset && means_all(name) ? all : text ? least(whole(text), all) : 0;
}

static bool has_fewer(const struct topo *topo, const json_t *program, const json_t *config, const json_t *than) {
	js_members (name, way, json_object_get(program, "params")) {
		int count = count_of(topo, config, name), other = count_of(topo, than, name);
		if (counts_threads(name) && count > 0 && count < other)
			return true;
	}
	return false;
}

const char *plan_narrower(const struct topo *topo, const json_t *program, const json_t *config, const json_t *than) {
	struct team team = team_of(topo, program, config), other = team_of(topo, program, than);
	struct width one = width_of(topo, &team), two = width_of(topo, &other);
	if (one.processors < two.processors || has_fewer(topo, program, config, than))
		return "processors";
	return one.cores < two.cores ? "cores" : NULL;
}

void plan_narrower_add(const struct topo *topo, json_t *result) {
	const json_t *best = js_at(result, "best.config");
	const json_t *baseline = js_at(result, "baseline.config");
	const json_t *program = json_object_get(result, "program");
	if (!topo || !best || !baseline || strcmp(js_string_or(result, "device", "cpu"), "cpu") != 0)
		return;
	const char *what = plan_narrower(topo, program, best, baseline);
	if (what)
		json_object_set_new(result, "narrower", json_string(what));
}

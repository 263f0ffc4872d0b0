/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>

#include "base/mem.h"
#include "base/json/js.h"
#include "base/value.h"
#include "tuner/program/environment.h"

/* The text of a number, word or boolean; NULL for anything else. Caller frees. */
static char *scalar_text(const json_t *json) {
	struct value value;
	if (json_is_string(json))
		return mem_strdup(json_string_value(json));
	if (json_is_boolean(json))
		return mem_strdup(json_is_true(json) ? "true" : "false");
	if (!json || !value_from_json(json, &value))
		return NULL;
	int size = value_text(value, NULL, 0) + 1;
	char *text = mem_alloc((size_t)size, 1);
	value_text(value, text, size);
	return text;
}

static void env_set(json_t *env, const char *name, char *text) {
	if (text)
		json_object_set_new(env, name, json_string(text));
	free(text);
}

/* NULL for "default", which leaves the choice to the runtime. */
static char *setting_text(const json_t *config, const char *param) {
	char *text = scalar_text(json_object_get(config, param));
	if (!text || strcmp(text, "default") != 0)
		return text;
	free(text);
	return NULL;
}

/* Sets OMP_SCHEDULE="dynamic,4"; without a chunk the runtime uses its own. */
static void env_schedule(json_t *env, const json_t *config) {
	mem_auto char *schedule = setting_text(config, "schedule");
	mem_auto char *chunk = scalar_text(json_object_get(config, "chunk"));
	if (schedule && chunk && strcmp(chunk, "0") != 0)
		env_set(env, "OMP_SCHEDULE", mem_printf("%s,%s", schedule, chunk));
	else if (schedule)
		env_set(env, "OMP_SCHEDULE", mem_strdup(schedule));
}

static bool is_unbound(const json_t *proc_bind) {
	const char *word = json_string_value(proc_bind);
	return json_is_false(proc_bind) || (word && strcmp(word, "false") == 0);
}

static void env_openmp(json_t *env, const json_t *config) {
	const json_t *proc_bind = json_object_get(config, "proc_bind");
	env_set(env, "OMP_NUM_THREADS", scalar_text(json_object_get(config, "threads")));
	env_set(env, "OMP_PROC_BIND", scalar_text(proc_bind));
	if (!is_unbound(proc_bind))
		env_set(env, "OMP_PLACES", scalar_text(json_object_get(config, "places")));
	env_schedule(env, config);
	env_set(env, "OMP_WAIT_POLICY", setting_text(config, "wait_policy"));
	env_set(env, "GOMP_SPINCOUNT", setting_text(config, "spincount"));
	env_set(env, "KMP_BLOCKTIME", setting_text(config, "blocktime"));
	/* The team must be as large as the one that was measured. */
	if (json_object_get(env, "OMP_NUM_THREADS"))
		json_object_set_new(env, "OMP_DYNAMIC", json_string("false"));
}

/* The variables, and the parameters that they set or override. The first variable of a parameter is its own. */
static const struct {
	const char *variable, *params[2];
} governed[] = {
	{"OMP_NUM_THREADS", {"threads"}},
	{"OMP_DYNAMIC", {"threads"}},
	{"OMP_PROC_BIND", {"proc_bind", "places"}},
	{"OMP_PLACES", {"places", "proc_bind"}},
	{"GOMP_CPU_AFFINITY", {"proc_bind", "places"}},
	{"KMP_AFFINITY", {"proc_bind", "places"}},
	{"OMP_SCHEDULE", {"schedule", "chunk"}},
	{"OMP_WAIT_POLICY", {"wait_policy"}},
	{"GOMP_SPINCOUNT", {"spincount"}},
	{"KMP_BLOCKTIME", {"blocktime"}},
};
enum { GOVERNED = sizeof governed / sizeof *governed };

bool config_governs(const char *variable, const json_t *config, const json_t *today) {
	for (size_t i = 0; i < GOVERNED; i++)
		for (size_t k = 0; k < 2 && strcmp(governed[i].variable, variable) == 0; k++) {
			const char *param = governed[i].params[k];
			const json_t *value = param ? json_object_get(config, param) : NULL;
			if (!today || (param && !(value == json_object_get(today, param)) &&
			               !json_equal(value, json_object_get(today, param))))
				return true;
		}
	return false;
}

const char *config_variable(const char *param) {
	for (size_t i = 0; i < GOVERNED; i++)
		if (strcmp(governed[i].params[0], param) == 0)
			return governed[i].variable;
	return strcmp(param, "chunk") == 0 ? "OMP_SCHEDULE" : NULL;
}

const char *const config_settings[] = {"threads",     "places",    "proc_bind", "schedule", "chunk",
                                       "wait_policy", "spincount", "blocktime", NULL};

bool config_is_setting(const char *name) {
	const char *const *setting = config_settings;
	while (*setting && strcmp(name, *setting) != 0)
		setting++;
	return *setting;
}

static bool is_openmp(const json_t *config, const char *param) {
	return config_is_setting(param) && (strcmp(param, "chunk") != 0 || json_object_get(config, "schedule"));
}

/* Sets SWEETSPOT_<KERNEL>_<PARAM> in capitals; characters that are not allowed in a name become "_". If two parameters
 * then have the same name, the second one gets another "_". */
static void env_param(json_t *env, const char *kernel, const char *param, const json_t *value) {
	char *name = mem_printf("SWEETSPOT_%s_%s", kernel, param);
	for (char *c = name; *c; c++)
		*c = isascii((unsigned char)*c) && isalnum((unsigned char)*c) ? (char)toupper((unsigned char)*c) : '_';
	while (json_object_get(env, name)) {
		char *longer = mem_printf("%s_", name);
		free(name);
		name = longer;
	}
	env_set(env, name, scalar_text(value));
	free(name);
}

json_t *config_environment_changed(const char *kernel, const json_t *config, const json_t *today) {
	json_t *env = config_environment(kernel, config);
	for (size_t i = 0; i < GOVERNED; i++)
		if (!config_governs(governed[i].variable, config, today))
			json_object_del(env, governed[i].variable);
	return env;
}

json_t *config_environment(const char *kernel, const json_t *config) {
	json_t *env = json_object();
	env_openmp(env, config);
	if (!kernel)
		return env;
	js_members (param, value, config)
		if (!is_openmp(config, param))
			env_param(env, kernel, param, value);
	return env;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tuner/program/environment.h"
#include "tuner/program/impl.h"

const char *const program_governed[] = {
	"OMP_NUM_THREADS",
	"OMP_PROC_BIND",
	"OMP_PLACES",
	"OMP_SCHEDULE",
	"OMP_WAIT_POLICY",
	"OMP_DYNAMIC",
	"GOMP_SPINCOUNT",
	"KMP_BLOCKTIME",
	"GOMP_CPU_AFFINITY",
	"KMP_AFFINITY",
	NULL,
};

static bool is_governed(const char *name) {
	for (const char *const *governed = program_governed; *governed; governed++)
		if (strcmp(name, *governed) == 0)
			return true;
	return false;
}

static bool is_set_by_openmp(const struct program *program, const json_t *config) {
	return program->spec.openmp && (program->spec.baseline_set || !program_is_baseline(program, config));
}

static void openmp_add(const struct program *program, const json_t *config, json_t *variables) {
	json_t *members = json_copy((json_t *)config);
	for (size_t i = 0; i < program->params.count; i++)
		json_object_del(members, program->params.list[i]);
	json_t *openmp = config_environment(NULL, members);
	json_object_update(variables, openmp);
	json_decref(openmp);
	json_decref(members);
}

/* "unset" as the value of one of the user's variables; the program then runs without it. */
static bool is_without(const struct program *program, const json_t *config, const char *name) {
	const char *value = json_string_value(json_object_get(config, name));
	return value && strcmp(value, PROGRAM_UNSET) == 0 && program_is_variable(program, name);
}

json_t *program_environment(const struct program *program, const json_t *config) {
	json_t *variables = program->spec.variables ? json_copy((json_t *)program->spec.variables) : json_object();
	if (is_set_by_openmp(program, config))
		openmp_add(program, config, variables);
	for (size_t i = 0; i < program->params.count; i++) {
		const char *name = program->params.list[i];
		char *value = program_value_text(json_object_get(config, name));
		if (value && program_is_variable(program, name) && !is_without(program, config, name))
			json_object_set_new(variables, name, json_string(value));
		free(value);
	}
	return variables;
}

static bool is_of_openmp(const char *entry) {
	return strncmp(entry, "OMP_", 4) == 0 || strncmp(entry, "GOMP_", 5) == 0 || strncmp(entry, "KMP_", 4) == 0;
}

json_t *program_variables(const struct program *program, const json_t *config) {
	bool ours = is_set_by_openmp(program, config);
	json_t *variables = json_object(), *own = program_environment(program, config);
	for (char **entry = environ; entry && *entry; entry++) {
		size_t size = strcspn(*entry, "=");
		char *name = mem_printf("%.*s", (int)size, *entry);
		if ((*entry)[size] && is_of_openmp(name) && !(ours && is_governed(name)))
			json_object_set_new(variables, name, json_string(*entry + size + 1));
		free(name);
	}
	json_object_update(variables, own);
	for (size_t i = 0; i < program->params.count; i++)
		if (is_without(program, config, program->params.list[i]))
			json_object_del(variables, program->params.list[i]);
	json_decref(own);
	return variables;
}

json_t *program_without(const struct program *program, const json_t *config) {
	json_t *names = json_array();
	for (size_t i = 0; i < program->params.count; i++)
		if (is_without(program, config, program->params.list[i]))
			json_array_append_new(names, json_string(program->params.list[i]));
	return names;
}

json_t *program_unset(const struct program *program, const json_t *config) {
	json_t *own = program_environment(program, config), *names = json_array();
	bool ours = is_set_by_openmp(program, config);
	for (const char *const *governed = program_governed; ours && *governed; governed++)
		if (getenv(*governed) && !json_object_get(own, *governed))
			json_array_append_new(names, json_string(*governed));
	for (size_t i = 0; i < program->params.count; i++)
		if (is_without(program, config, program->params.list[i]) && getenv(program->params.list[i]))
			json_array_append_new(names, json_string(program->params.list[i]));
	json_decref(own);
	return names;
}

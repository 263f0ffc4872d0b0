/* SPDX-License-Identifier: BSD-3-Clause */
#include <config.h>

#include "src/worker/kernel/call.h"

#include <stdio.h>
#include <string.h>

#include "src/topo/topo.h"
#include "src/worker/kernel/param.h"

static const struct ss_param call_team_params[] = {
	{.name = "threads", .type = SS_INT, .initial = "0", .min = 1, .max = 1 << 16},
	{.name = "places", .type = SS_WORD, .values = "threads,cores,ll_caches,numa_domains,sockets", .initial = "threads"},
	{.name = "proc_bind", .type = SS_WORD, .values = "false,close,spread,primary,master", .initial = "false"},
	{.name = NULL},
};
static const struct ss_param call_schedule_params[] = {
	{.name = "schedule", .type = SS_WORD, .values = "static,dynamic,guided", .initial = "static"},
	{.name = "chunk", .type = SS_INT, .initial = "0", .min = 0, .max = 1 << 30},
	{.name = NULL},
};
static const struct ss_param call_no_params[] = {{.name = NULL}};

enum { CALL_TABLES = 3 };

static size_t call_param_count(const struct ss_param *params) {
	size_t count = 0;
	while (params && params[count].name) {
		count++;
	}
	return count;
}

/* Reads one object into as many value arrays as there are tables; every key must belong to one of them. */
static int object_read(struct arena *arena, const char *where, const struct ss_param *const tables[CALL_TABLES],
                       const json_t *object, struct ss_value *values[CALL_TABLES], struct err *err) {
	if (object && !json_is_object(object)) {
		return err_set(err, ERR_USAGE, "write {\"name\": value, ...}", "%s is not an object", where);
	}
	for (size_t t = 0; t < CALL_TABLES; t++) {
		size_t count = call_param_count(tables[t]);
		values[t] = arena_alloc(arena, count + 1, sizeof *values[t]);
		for (size_t i = 0; i < count; i++) {
			const struct ss_param *param = &tables[t][i];
			const json_t *json = json_object_get(object, param->name);
			if ((json ? param_read(arena, param, json, &values[t][i], err)
			          : param_initial(arena, param, &values[t][i], err)) != 0) {
				return err_prefix(err, "%s", where);
			}
		}
	}
	return param_check_names(tables, CALL_TABLES, object, where, err);
}

static omp_sched_t schedule_kind(int64_t place) {
	static const omp_sched_t kinds[] = {omp_sched_static, omp_sched_dynamic, omp_sched_guided};
	return kinds[place];
}

int call_read(struct arena *arena, const struct kernel_entry *entry, const json_t *problem, const json_t *config,
              struct call *call, struct err *err) {
	const struct ss_kernel *kernel = entry->kernel;
	const struct ss_param *problem_tables[CALL_TABLES] = {kernel->problem, call_no_params, call_no_params};
	const struct ss_param *config_tables[CALL_TABLES] = {
		kernel->params,
		kernel->flags & SS_OPENMP ? call_team_params : call_no_params,
		kernel->flags & SS_SCHEDULE ? call_schedule_params : call_no_params,
	};
	struct ss_value *parts[CALL_TABLES], *values[CALL_TABLES];

	*call = (struct call){.entry = entry,
	                      .threads = 1,
	                      .places = "threads",
	                      .proc_bind = "false",
	                      .schedule = omp_sched_static,
	                      .device = DEVICE_CPU};
	const char *problem_name = arena_printf(arena, "the problem of kernel %s", kernel->name);
	const char *config_name = arena_printf(arena, "the configuration of kernel %s", kernel->name);
	if (object_read(arena, problem_name, problem_tables, problem, parts, err) != 0 ||
	    object_read(arena, config_name, config_tables, config, values, err) != 0) {
		return -1;
	}
	call->problem = parts[0];
	call->config = values[0];
	if (kernel->flags & SS_OPENMP) {
		call->threads = (int)values[1][0].i;
		call->places = values[1][1].w;
		call->proc_bind = values[1][2].w;
	}
	if (kernel->flags & SS_SCHEDULE) {
		call->schedule = schedule_kind(values[2][0].i);
		call->chunk = (int)values[2][1].i;
	}
	return 0;
}

static struct ss_value *values_copy(struct arena *arena, const struct ss_param *params, const struct ss_value *from) {
	size_t count = call_param_count(params);
	struct ss_value *to = arena_alloc(arena, count + 1, sizeof *to);
	for (size_t i = 0; i < count; i++) {
		to[i] = from[i];
		if (from[i].w) {
			to[i].w = arena_strdup(arena, from[i].w);
		}
	}
	return to;
}

void call_copy(struct arena *arena, const struct call *from, struct call *to) {
	*to = *from;
	to->problem = values_copy(arena, from->entry->kernel->problem, from->problem);
	to->config = values_copy(arena, from->entry->kernel->params, from->config);
	to->places = arena_strdup(arena, from->places);
	to->proc_bind = arena_strdup(arena, from->proc_bind);
}

static char *values_key(struct arena *arena, char *key, const struct ss_param *params, const struct ss_value *values) {
	for (size_t i = 0; params && params[i].name; i++) {
		if (params[i].type == SS_TEXT) {
			key = arena_printf(arena, "%s %zu:%s", key, strlen(values[i].w), values[i].w);
		} else if (params[i].type == SS_REAL) {
			key = arena_printf(arena, "%s %.17g", key, values[i].r);
		} else {
			key = arena_printf(arena, "%s %lld", key, (long long)values[i].i);
		}
	}
	return key;
}

char *call_input_key(struct arena *arena, const struct call *call) {
	const struct ss_kernel *kernel = call->entry->kernel;
	/* The address is part of the key because two plug-ins may have a kernel of the same name. Entries live as long
	 * as the process. */
	char *key = arena_printf(arena, "%s %p %d %llu", kernel->name, (const void *)call->entry, call->device,
	                         (unsigned long long)call->seed);
	return values_key(arena, key, kernel->problem, call->problem);
}

char *call_state_key(struct arena *arena, const struct call *call, const char *binding) {
	char *key = arena_printf(arena, "%s | %d %d %d", call_input_key(arena, call), call->threads, (int)call->schedule,
	                         call->chunk);
	return arena_printf(arena, "%s | %s", values_key(arena, key, call->entry->kernel->params, call->config), binding);
}

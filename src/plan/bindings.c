/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/plan/plan_impl.h"

enum { THREADS, BIND, PLACES, COLUMNS };

static const char *const names[COLUMNS] = {"threads", "proc_bind", "places"};

struct bindings {
	const struct topo *topo;
	const struct space *space;
	size_t param[COLUMNS], values[COLUMNS];
	int *rows;
	size_t count;
	const char **keys; /* keys of the rows with one thread count */
	size_t key_count;
	struct arena *arena;
};

static const char *word_at(const struct bindings *b, int column, size_t level) {
	return space_param_value(b->space, b->param[column], level).as.w;
}

static bool is_word(const struct bindings *b, int column, size_t level, const char *word) {
	return strcmp(word_at(b, column, level), word) == 0;
}

/* Adds a row unless the same binding of this team is there already. All arguments are levels. */
static int binding_try(struct bindings *b, size_t thread, size_t bind, int place, struct err *err) {
	int threads = (int)space_param_value(b->space, b->param[THREADS], thread).as.i;
	const char *places = place == SPACE_ABSENT ? "cores" : word_at(b, PLACES, (size_t)place);
	struct topo_binding *binding = topo_binding_new(b->topo, threads, places, word_at(b, BIND, bind), err);
	if (!binding)
		return -1;
	const char *key = arena_strdup(b->arena, topo_binding_key(binding));
	topo_binding_free(binding);
	for (size_t i = 0; i < b->key_count; i++)
		if (strcmp(b->keys[i], key) == 0)
			return 0;
	b->keys[b->key_count++] = key;
	int *row = &b->rows[COLUMNS * b->count++];
	row[THREADS] = (int)thread;
	row[BIND] = (int)bind;
	row[PLACES] = place;
	return 0;
}

static int bindings_of_team(struct bindings *b, size_t thread, struct err *err) {
	static const char *const known_first[] = {"cores", "threads", "sockets", "numa_domains", "ll_caches"};
	b->key_count = 0;
	for (size_t bind = 0; bind < b->values[BIND]; bind++)
		if (is_word(b, BIND, bind, "false") && binding_try(b, thread, bind, SPACE_ABSENT, err))
			return -1;
	for (size_t bind = 0; bind < b->values[BIND]; bind++) {
		if (is_word(b, BIND, bind, "false"))
			continue;
		for (size_t k = 0; k < sizeof known_first / sizeof *known_first; k++)
			for (size_t place = 0; place < b->values[PLACES]; place++)
				if (is_word(b, PLACES, place, known_first[k]) && binding_try(b, thread, bind, (int)place, err))
					return -1;
	}
	return 0;
}

static int bindings_of_all(struct bindings *b, struct err *err) {
	for (size_t thread = 0; thread < b->values[THREADS]; thread++)
		if (bindings_of_team(b, thread, err))
			return -1;
	return 0;
}

int bindings_add(struct space *space, const struct topo *topo, struct err *err) {
	struct bindings b = {.topo = topo, .space = space, .arena = arena_new()};
	for (int column = 0; column < COLUMNS; column++) {
		b.param[column] = (size_t)space_param_find(space, names[column]);
		b.values[column] = space_param_values(space, b.param[column]);
	}
	size_t per_team = b.values[BIND] * (b.values[PLACES] + 1);
	b.rows = arena_alloc(b.arena, COLUMNS * b.values[THREADS] * per_team, sizeof *b.rows);
	b.keys = arena_alloc(b.arena, per_team, sizeof *b.keys);
	int failed = bindings_of_all(&b, err);
	if (!failed)
		failed = space_add_table(space, names, COLUMNS, b.rows, b.count, err);
	arena_free(b.arena);
	return failed;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inside/inside_impl.h"

enum { PLACES_MOST = INSIDE_PLACES * 3 / 4, LABEL_MOST = 200 };

static struct inside_process process = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void fork_prepare(void) {
	pthread_mutex_lock(&process.lock);
	for (struct sweetspot_context *one = process.contexts; one; one = one->next)
		pthread_mutex_lock(&one->lock);
}

static void fork_parent(void) {
	for (struct sweetspot_context *one = process.contexts; one; one = one->next)
		pthread_mutex_unlock(&one->lock);
	pthread_mutex_unlock(&process.lock);
}

static void fork_child(void) {
	for (struct sweetspot_context *one = process.contexts; one; one = one->next)
		for (size_t i = 0; i < INSIDE_CELLS && one->learners[i]; i++)
			ssi_learning.forked(one->learners[i]);
	fork_parent();
}

/* The environment is read once, because the program may change it in another thread. */
static void begin(void) {
	const char *table = secure_getenv(INSIDE_TABLE), *ring = secure_getenv(INSIDE_RING);
	process.begun = true;
	process.table = table ? strdup(table) : NULL;
	if (pthread_atfork(fork_prepare, fork_parent, fork_child) == 0)
		process.ring = ring && ring[0] == '/' ? ssi_ring_open(ring) : NULL;
}

/* A label with a colon names its program itself. */
static char *kernel_of(const char *label) {
	char *kernel = NULL;
	bool whole = strchr(label, ':');
	return asprintf(&kernel, "%s%s%s", whole ? "" : program_invocation_short_name, whole ? "" : ":", label) < 0
	           ? NULL
	           : kernel;
}

static struct sweetspot_context *context_new(const char *label) {
	struct sweetspot_context *context = calloc(1, sizeof *context);
	if (!context)
		return NULL;
	context->label = strdup(label);
	context->kernel = context->label ? kernel_of(label) : NULL;
	if (!context->kernel) {
		free(context->label);
		free(context);
		return NULL;
	}
	pthread_mutex_init(&context->lock, NULL);
	memset(&context->otherwise.levels, 0xff, sizeof context->otherwise.levels);
	return context;
}

sweetspot_context *sweetspot_context_open(const char *name) {
	char label[LABEL_MOST + 1];
	snprintf(label, sizeof label, "%s", name ? name : "");
	pthread_mutex_lock(&process.lock);
	if (!process.begun)
		begin();
	struct sweetspot_context *context = process.contexts;
	while (context && strcmp(context->label, label) != 0)
		context = context->next;
	if (!context && (context = context_new(label))) {
		context->next = process.contexts;
		process.contexts = context;
	}
	pthread_mutex_unlock(&process.lock);
	return context;
}

static const char HEAD[] = "sweetspot-inside 1\n";

/* The next word of the line; empty at its end. */
static size_t word_at(const char **line) {
	while (**line == ' ')
		++*line;
	return strcspn(*line, " \n");
}

static double distance_of(double a, double b) {
	if (a == b)
		return 0;
	return a > 0 && b > 0 ? fabs(log(a / b)) : INFINITY;
}

/* The part that a member of a line adds to the distance from the problem; INFINITY: another one. */
static double member_distance(const struct inside_member *member, const struct sweetspot_value *problem, size_t count) {
	for (size_t i = 0; i < count; i++) {
		if (strcmp(problem[i].name ? problem[i].name : "", member->name) != 0)
			continue;
		if (member->is_word || problem[i].word)
			return member->is_word && problem[i].word && strcmp(member->word, problem[i].word) == 0 ? 0 : INFINITY;
		return distance_of(member->number, problem[i].number);
	}
	return INFINITY;
}

/* Reads the problem of a line, and leaves `line` behind it. Members that either side lacks make it another problem. */
static double problem_distance(const char **line, const struct sweetspot_value *problem, size_t count) {
	struct inside_member member;
	double sum = 0;
	size_t size, members = 0;
	while ((size = word_at(line)) > 0 && **line != ':' && **line != '@') {
		sum += ssi_member_read(*line, size, &member) ? member_distance(&member, problem, count) : INFINITY;
		*line += size;
		members++;
	}
	return members == count ? sum : INFINITY;
}

/* Sets the level of a value; where it is not declared, the default stays. */
static void level_set(const struct sweetspot_context *context, const struct sweetspot_value *setting,
                      struct inside_levels *levels) {
	const struct inside_param *param = NULL;
	for (uint32_t i = 0; !param && i < context->count; i++)
		param = strcmp(context->params[i].name, setting->name) == 0 ? &context->params[i] : NULL;
	for (uint16_t i = 0; param && i < param->count; i++) {
		const union inside_value *value = &param->values[i];
		bool equal = param->type == INSIDE_WORD  ? setting->word && strcmp(value->word, setting->word) == 0
		             : setting->word             ? false
		             : param->type == INSIDE_INT ? (double)value->integer == setting->number
		                                         : value->real == setting->number;
		if (equal)
			levels->at[param - context->params] = i;
	}
}

/* A value that is not declared any more leaves the default. */
static void levels_read(const struct sweetspot_context *context, const char **line, struct inside_levels *levels) {
	struct inside_member member;
	size_t size;
	while ((size = word_at(line)) > 0 && **line != '@' && **line != '~') {
		if (ssi_member_read(*line, size, &member)) {
			const struct sweetspot_value setting = {member.name, member.number, member.is_word ? member.word : NULL};
			level_set(context, &setting, levels);
		}
		*line += size;
	}
}

static void line_read(const struct sweetspot_context *context, const char *line, struct inside_levels *levels,
                      struct inside_past *past) {
	memset(levels, 0xff, sizeof *levels);
	*past = (struct inside_past){0};
	if (word_at(&line) > 0 && *line == ':') {
		line++;
		levels_read(context, &line, levels);
	}
	for (size_t size; (size = word_at(&line)) > 0; line += size)
		if (*line == '@')
			past->default_cost = strtod(line + 1, NULL);
		else if (*line == '~')
			past->relative = strtod(line + 1, NULL);
}

static bool table_find(const char *table, const struct sweetspot_context *context,
                       const struct sweetspot_value *problem, size_t count, struct inside_levels *levels,
                       struct inside_past *past) {
	const char *line = table;
	char kernel[INSIDE_TEXT];
	double best = INFINITY;
	if (!line || strncmp(line, HEAD, sizeof HEAD - 1) != 0)
		return false;
	for (line += sizeof HEAD - 1; *line; line += *line == '\n') {
		size_t size = word_at(&line);
		bool ours = size && ssi_text_read(line, size, kernel) && strcmp(kernel, context->kernel) == 0;
		line += size;
		double distance = ours ? problem_distance(&line, problem, count) : INFINITY;
		if (distance < best) {
			best = distance;
			line_read(context, line, levels, past);
			if (distance > 0) /* it is the cost of another size */
				past->default_cost = 0;
		}
		line += strcspn(line, "\n");
	}
	return best < INFINITY;
}

struct recommended {
	const struct sweetspot_context *context;
	struct inside_levels levels;
};

static void setting_take(void *ctx, const struct sweetspot_value *setting) {
	struct recommended *found = ctx;
	level_set(found->context, setting, &found->levels);
}

/* The values of the table or a profile. */
static struct inside_levels known_for(const struct sweetspot_context *context, const struct sweetspot_value *problem,
                                      size_t count, struct inside_past *past) {
	struct recommended found = {.context = context, .levels = context->otherwise.levels};
	*past = (struct inside_past){0};
	if (process.table)
		table_find(process.table, context, problem, count, &found.levels, past);
	else
		ssi_profile_find(context->kernel, problem, count, setting_take, &found);
	return ssi_allows(context, &found.levels) ? found.levels : context->otherwise.levels;
}

/* The middle of the values, or what is allowed nearest to it. */
static struct inside_levels middle_of(const struct sweetspot_context *context) {
	struct inside_levels levels = context->otherwise.levels, next;
	for (uint32_t i = 0; i < context->count; i++)
		levels.at[i] = context->params[i].count ? context->params[i].count / 2 : INSIDE_OTHERWISE;
	for (bool moved = true; moved && !ssi_allows(context, &levels);) {
		moved = false;
		for (uint32_t i = 0; i < context->count && !ssi_allows(context, &levels); i++)
			if (levels.at[i] != INSIDE_OTHERWISE && levels.at[i] > 0) {
				levels.at[i]--;
				moved = true;
			}
	}
	next = context->otherwise.levels;
	return ssi_allows(context, &levels) ? levels : next;
}

static void value_write(FILE *out, const struct inside_param *param, const union inside_value *value) {
	fputc(' ', out);
	if (param->type == INSIDE_INT)
		fprintf(out, "%lld", value->integer);
	else if (param->type == INSIDE_REAL)
		fprintf(out, "%.17g", value->real);
	else
		ssi_text_write(out, value->word);
}

static void space_write(FILE *out, const struct sweetspot_context *context) {
	static const char *const types[] = {"int ", "real ", "word "};
	for (uint32_t i = 0; i < context->count; i++) {
		const struct inside_param *param = &context->params[i];
		fputs(types[param->type], out);
		ssi_text_write(out, param->name);
		value_write(out, param, &param->otherwise);
		fputs(" :", out);
		for (uint16_t k = 0; k < param->count; k++)
			value_write(out, param, &param->values[k]);
		fputc('\n', out);
	}
	if (context->needs_another)
		fputs("without-default\n", out);
	for (const struct inside_rule *rule = context->rules; rule; rule = rule->next)
		fprintf(out, "where %s\n", rule->text);
}

/* Fills the text of an entry; false: it does not fit. */
static bool fill(char *to, size_t size, const struct sweetspot_context *context, const struct inside_problem *problem) {
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		return false;
	if (!problem)
		space_write(out, context);
	for (size_t i = 0; problem && i < problem->count; i++) {
		const struct sweetspot_value *value = &problem->values[i];
		if (i)
			fputc(' ', out);
		ssi_text_write(out, value->name ? value->name : "");
		if (value->word) {
			fputs("='", out);
			ssi_text_write(out, value->word);
		} else {
			fprintf(out, "=%.17g", value->number);
		}
	}
	bool fits = fclose(out) == 0 && text && length < size;
	if (fits)
		memcpy(to, text, length + 1);
	free(text);
	return fits;
}

/* Takes the entry for this process to fill it. */
static bool take(_Atomic uint32_t *there) {
	uint32_t expected = INSIDE_FREE;
	return atomic_compare_exchange_strong(there, &expected, INSIDE_FILLING);
}

static struct inside_cell *cell_find(struct inside_context *entry, const struct inside_problem *problem) {
	for (size_t i = 0; i < INSIDE_CELLS; i++) {
		struct inside_cell *cell = &entry->cells[i];
		if (take(&cell->there)) {
			bool fits = fill(cell->problem, INSIDE_PROBLEM, NULL, problem);
			cell->problem_class = fits ? problem->problem_class : 0;
			atomic_store_explicit(&cell->there, INSIDE_THERE, memory_order_release);
			return fits ? cell : NULL;
		}
		if (atomic_load_explicit(&cell->there, memory_order_acquire) == INSIDE_THERE &&
		    cell->problem_class == problem->problem_class)
			return cell;
	}
	return NULL;
}

static bool is_same(const struct inside_context *entry, const struct sweetspot_context *context) {
	char space[INSIDE_SPACE];
	return atomic_load_explicit(&entry->there, memory_order_acquire) == INSIDE_THERE &&
	       strncmp(entry->kernel, context->kernel, INSIDE_NAME) == 0 && fill(space, sizeof space, context, NULL) &&
	       strncmp(entry->space, space, INSIDE_SPACE) == 0;
}

static struct inside_context *context_find(struct inside_ring *ring, const struct sweetspot_context *context) {
	for (size_t i = 0; i < INSIDE_CONTEXTS && strlen(context->kernel) < INSIDE_NAME; i++) {
		struct inside_context *entry = &ring->contexts[i];
		if (take(&entry->there)) {
			strcpy(entry->kernel, context->kernel);
			entry->params = context->count;
			bool fits = fill(entry->space, INSIDE_SPACE, context, NULL);
			if (!fits)
				entry->kernel[0] = '\0';
			atomic_store_explicit(&entry->there, INSIDE_THERE, memory_order_release);
			return fits ? entry : NULL;
		}
		if (is_same(entry, context))
			return entry;
	}
	return NULL;
}

/* Takes the context's entry in the ring, or that of a class of its problems. False: there is no room. */
static bool entry_take(struct inside_ring *ring, struct sweetspot_context *context,
                       const struct inside_problem *problem, struct inside_cell **cell) {
	if (!problem)
		context->shared = context_find(ring, context);
	else if (context->shared)
		*cell = cell_find(context->shared, problem);
	return context->shared && (!problem || *cell);
}

static void seal(struct sweetspot_context *context) {
	if (pthread_mutex_trylock(&context->lock) != 0)
		return;
	if (!context->sealed) {
		if (process.ring && !context->broken)
			entry_take(process.ring, context, NULL, NULL);
		bool known = process.table ? true : ssi_profile_find(context->kernel, NULL, 0, NULL, NULL);
		atomic_store(&context->active, context->count > 0 && (context->shared || known || context->needs_another));
		atomic_store(&context->sealed, true);
	}
	pthread_mutex_unlock(&context->lock);
}

static uint64_t mix(uint64_t hash, uint64_t with) {
	hash = (hash ^ with) * 0x9e3779b97f4a7c15;
	return hash ^ (hash >> 29);
}

static uint64_t mix_text(uint64_t hash, const char *text) {
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 0x100000001b3;
	return mix(hash, 1);
}

/* For the problem, or for its class: sizes up to a factor of 1.4 around a power of two are alike. */
static uint64_t hash_of(const struct sweetspot_value *problem, size_t count, bool of_class) {
	uint64_t hash = of_class ? 2 : 1;
	for (size_t i = 0; i < count; i++) {
		double number = problem[i].number;
		uint64_t bits;
		if (of_class && number > 0)
			number = round(log2(number));
		memcpy(&bits, &number, sizeof bits);
		hash = mix_text(hash, problem[i].name ? problem[i].name : "");
		hash = problem[i].word ? mix_text(hash, problem[i].word) : mix(hash, bits);
	}
	return hash;
}

static struct inside_place *place_find(struct sweetspot_context *context, uint64_t hash, size_t *at) {
	struct inside_place *place;
	for (*at = hash % INSIDE_PLACES;; *at = (*at + 1) % INSIDE_PLACES) {
		place = atomic_load_explicit(&context->places[*at], memory_order_acquire);
		if (!place || place->hash == hash)
			return place;
	}
}

static struct inside_place *place_add(struct sweetspot_context *context, uint64_t hash, struct inside_place made) {
	size_t at;
	struct inside_place *place = place_find(context, hash, &at);
	if (place || context->place_count == PLACES_MOST || !(place = malloc(sizeof *place)))
		return place;
	*place = made;
	place->hash = hash;
	context->place_count++;
	atomic_store_explicit(&context->places[at], place, memory_order_release);
	return place;
}

/* A size that is not a number is never found again. */
static bool is_finite(const struct sweetspot_value *problem, size_t count) {
	for (size_t i = 0; i < count; i++)
		if (!problem[i].word && !isfinite(problem[i].number))
			return false;
	return true;
}

static struct inside_place *place_make(struct sweetspot_context *context, const struct sweetspot_value *problem,
                                       size_t count, uint64_t hash) {
	struct inside_past past;
	size_t at;
	uint64_t of_class = hash_of(problem, count, true);
	struct inside_place *alike = place_find(context, of_class, &at);
	if (context->place_count >= PLACES_MOST - 1)
		return alike;
	struct inside_levels levels = known_for(context, problem, count, &past);
	if (context->needs_another && memcmp(&levels, &context->otherwise.levels, sizeof levels) == 0)
		levels = middle_of(context);
	struct inside_place made = {.config = ssi_config_of(context, &levels)};
	if (!made.config)
		return NULL;
	const struct inside_problem asked = {problem, count, of_class};
	struct inside_cell *cell = NULL;
	if (alike)
		made.learner = alike->learner;
	else if (context->shared && is_finite(problem, count) && entry_take(process.ring, context, &asked, &cell))
		made.learner = ssi_alone.make(process.ring, context, cell, made.config, &past);
	place_add(context, of_class, made);
	return place_add(context, hash, made);
}

/* NULL: the default holds, or another thread is about to find out. */
static const struct inside_place *place_of(struct sweetspot_context *context, const struct sweetspot_value *problem,
                                           size_t count) {
	if (!atomic_load_explicit(&context->sealed, memory_order_acquire))
		seal(context);
	if (!atomic_load_explicit(&context->active, memory_order_acquire))
		return NULL;
	count = problem ? count : 0;
	uint64_t hash = hash_of(problem, count, false);
	size_t at;
	struct inside_place *place = place_find(context, hash, &at);
	if (!place && pthread_mutex_trylock(&context->lock) == 0) {
		place = place_make(context, problem, count, hash);
		pthread_mutex_unlock(&context->lock);
	}
	return place;
}

void sweetspot_choose(sweetspot_context *context, const struct sweetspot_value *problem, size_t count,
                      struct sweetspot_choice *choice) {
	*choice = (struct sweetspot_choice){.context = context};
	if (!context)
		return;
	choice->config = &context->otherwise;
	const struct inside_place *place = place_of(context, problem, count);
	if (!place)
		return;
	choice->config = place->config;
	choice->place = place->learner;
	if (place->learner)
		ssi_learning.choose(place->learner, choice);
}

void ssi_observe(sweetspot_context *context, const struct sweetspot_value *problem, size_t count,
                 struct sweetspot_choice *choice) {
	*choice = (struct sweetspot_choice){.context = context};
	if (!context)
		return;
	choice->config = &context->otherwise;
	const struct inside_place *place = place_of(context, problem, count);
	if (!place || !place->learner)
		return;
	choice->place = place->learner;
	ssi_alone.observe(place->learner, choice);
}

bool ssi_context_active(sweetspot_context *context) {
	if (!atomic_load(&context->sealed))
		seal(context);
	return atomic_load(&context->active);
}

void sweetspot_report(struct sweetspot_choice *choice, double cost) {
	if (choice && choice->place && choice->ticket)
		ssi_learning.report(choice->place, choice, cost);
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The texts of a ring become spaces and problems. A program may have written anything into it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/json/js.h"
#include "tuner/inside/inside_impl.h"

enum { VALUES_MOST = INSIDE_VALUES + 1, COMPARED_LEAST = 8, COMPARED = 24 };
static const double GAIN = 0.01;

/* The next word of *at, decoded into the buffer; false: there is none. */
static bool word_next(char **at, char buffer[INSIDE_TEXT]) {
	char *word = strsep(at, " ");
	return word && ssi_text_read(word, strlen(word), buffer);
}

static bool value_read(const char *type, const char *text, struct arena *arena, struct value *value) {
	char *end;
	if (strcmp(type, "word") == 0) {
		*value = value_word(arena_strdup(arena, text));
		return true;
	}
	if (strcmp(type, "int") == 0)
		*value = value_int(strtoll(text, &end, 10));
	else
		*value = value_real(strtod(text, &end));
	return end != text && *end == '\0' && isfinite(value_number(*value));
}

static size_t value_find(const struct value *values, size_t count, struct value wanted) {
	size_t i = 0;
	while (i < count && !value_equal(values[i], wanted))
		i++;
	return i;
}

/* "int block 32 : 16 32 64": the default is one of the values, or one more. */
static bool param_read(struct inside_subject *subject, size_t number, char *line, struct arena *arena) {
	static const char *const types[] = {"int", "real", "word"};
	struct value values[VALUES_MOST], otherwise;
	char name[INSIDE_TEXT], text[INSIDE_TEXT];
	const char *type = strsep(&line, " ");
	struct inside_setting *setting = &subject->settings[number];
	bool known = false;
	for (size_t i = 0; i < 3; i++)
		known = known || strcmp(type, types[i]) == 0;
	if (!known || number == INSIDE_PARAMS || !word_next(&line, name) || !word_next(&line, text) ||
	    !value_read(type, text, arena, &otherwise) || !line || strncmp(line, ":", 1) != 0)
		return false;
	strsep(&line, " ");
	while (setting->count < INSIDE_VALUES && line && word_next(&line, text))
		if (!value_read(type, text, arena, &values[setting->count++]))
			return false;
	setting->otherwise = value_find(values, setting->count, otherwise);
	bool more = setting->otherwise == setting->count;
	if (more)
		values[setting->count] = otherwise;
	json_object_set_new(subject->otherwise, name, value_json(otherwise));
	return setting->count + more > 0 &&
	       space_add_param(subject->space, name, "", values, setting->count + more, NULL, NULL) == 0;
}

static bool space_read(struct inside_subject *subject) {
	mem_auto char *text = mem_strdup(subject->text);
	struct arena *arena = arena_new();
	size_t params = 0;
	bool good = true;
	for (char *rest = text, *line; good && (line = strsep(&rest, "\n"));)
		if (strcmp(line, "without-default") == 0)
			subject->without_default = true;
		else if (strncmp(line, "where ", 6) == 0)
			good = space_add_constraint(subject->space, line + 6, NULL) == 0;
		else if (*line)
			good = param_read(subject, params++, line, arena);
	good = good && params > 0 && space_build(subject->space, NULL) == 0;
	arena_free(arena);
	return good;
}

static struct inside_subject *subject_new(const char *kernel, const char *text) {
	struct inside_subject *subject = mem_alloc(1, sizeof *subject);
	subject->kernel = mem_strdup(kernel);
	subject->text = mem_strdup(text);
	subject->space = space_new();
	subject->otherwise = json_object();
	subject->start = UINT64_MAX;
	if (!space_read(subject)) {
		space_free(subject->space);
		subject->space = NULL;
	} else if (space_config_read(subject->space, subject->otherwise, NULL, &subject->start, NULL)) {
		subject->start = UINT64_MAX;
	}
	return subject;
}

struct inside_subject *inside_subject_get(struct inside_session *session, const char *kernel, const char *text) {
	for (size_t i = 0; i < session->count; i++)
		if (strcmp(session->subjects[i]->kernel, kernel) == 0 && strcmp(session->subjects[i]->text, text) == 0)
			return session->subjects[i];
	session->subjects = mem_grow(session->subjects, session->count + 1, sizeof(struct inside_subject *));
	return session->subjects[session->count++] = subject_new(kernel, text);
}

static json_t *problem_json(const char *problem) {
	mem_auto char *text = mem_strdup(problem);
	json_t *json = json_object();
	struct inside_member member;
	for (char *rest = text, *word; (word = strsep(&rest, " "));) {
		if (!ssi_member_read(word, strlen(word), &member) || (!member.is_word && !isfinite(member.number)))
			continue;
		bool whole = member.number == floor(member.number) && fabs(member.number) < 0x1p53;
		json_object_set_new(json, member.name,
		                    member.is_word ? value_json(value_word(member.word))
		                    : whole        ? json_integer((json_int_t)member.number)
		                                   : js_number(member.number));
	}
	return json;
}

/* The same class: as in the library, sizes are alike up to a factor of 1.4 around a power of two. */
static bool is_alike(const json_t *left, const json_t *right) {
	if (json_object_size(left) != json_object_size(right))
		return false;
	js_members (name, value, left) {
		const json_t *other = json_object_get(right, name);
		double x = json_number_value(value), y = json_number_value(other);
		bool alike = json_is_number(value) && json_is_number(other)
		                 ? x == y || (x > 0 && y > 0 && round(log2(x)) == round(log2(y)))
		                 : other && json_equal(value, other);
		if (!alike)
			return false;
	}
	return true;
}

struct inside_known *inside_known_get(struct inside_session *session, struct inside_subject *subject,
                                      const char *problem) {
	js_auto json_t *asked = problem_json(problem);
	for (size_t i = 0; i < subject->count; i++)
		if (is_alike(subject->cells[i]->asked, asked))
			return subject->cells[i];
	struct inside_known *cell = mem_alloc(1, sizeof *cell);
	cell->problem = mem_strdup(problem);
	cell->asked = json_incref(asked);
	cell->subject = subject;
	cell->best = subject->start;
	cell->gain = cell->gain_error = cell->debt.last = NAN;
	cell->task = (struct strategy_task){.space = subject->space, .seed = session->seed, .start = subject->start};
	subject->cells = mem_grow(subject->cells, subject->count + 1, sizeof(struct inside_known *));
	return subject->cells[subject->count++] = cell;
}

struct inside_tried *inside_tried_get(struct inside_known *cell, uint64_t index) {
	for (size_t i = 0; i < cell->count; i++)
		if (cell->tried[i].index == index)
			return &cell->tried[i];
	cell->tried = mem_grow(cell->tried, cell->count + 1, sizeof *cell->tried);
	cell->tried[cell->count] =
		(struct inside_tried){.index = index, .relative = NAN, .error = NAN, .epoch = cell->epoch};
	return &cell->tried[cell->count++];
}

/* Beside the default in enough calls; a large difference is clear after a few. */
bool inside_known_compared(const struct inside_known *cell) {
	bool clear = cell->gain_calls >= COMPARED_LEAST && cell->gain - 4 * cell->gain_error > INSIDE_CLEAR;
	return clear || cell->gain_calls >= COMPARED;
}

bool inside_known_faster(const struct inside_known *cell) {
	if (cell->best == cell->subject->start || !cell->subject->space || cell->jointly)
		return cell->jointly && cell->best != cell->subject->start;
	if (cell->subject->without_default) {
		const struct inside_tried *best = inside_tried_get((struct inside_known *)cell, cell->best);
		return best->calls >= INSIDE_SEEN && best->relative + 3 * best->error < -GAIN;
	}
	return cell->gain_calls >= INSIDE_SEEN && cell->gain - 2 * cell->gain_error > GAIN;
}

/* ---- what is chosen jointly ---- */

enum { CALLS_LEAST = 50, PRODUCT_MOST = 4096 };
static const double DEAR = 3; /* times the default's cost: too much to be made up for elsewhere */

/* Whether enough of its calls are seen in this run, and all of them can have their default. */
static bool is_candidate(const struct inside_known *cell) {
	const struct inside_subject *subject = cell->subject;
	return cell->shared && subject->space && !subject->without_default && cell->before_calls >= CALLS_LEAST;
}

static bool is_option(const struct inside_part *member, const struct inside_tried *tried) {
	if (tried->failed || tried->calls == 0 || tried->epoch != member->cell->epoch || !(tried->relative < log(DEAR)))
		return false;
	for (size_t i = 0; i < member->count; i++)
		if (member->options[i] == tried->index)
			return false;
	return true;
}

/* The default, the best, and those that cost least. */
static void options_find(struct inside_part *member, size_t most) {
	const struct inside_known *cell = member->cell;
	const struct inside_tried *next;
	member->options[0] = cell->subject->start;
	member->options[1] = cell->best;
	member->count = 1 + (cell->best != cell->subject->start);
	do {
		next = NULL;
		for (size_t i = 0; i < cell->count; i++)
			if (is_option(member, &cell->tried[i]) && (!next || cell->tried[i].relative < next->relative))
				next = &cell->tried[i];
		if (next && member->count < most)
			member->options[member->count++] = next->index;
	} while (next && member->count < most);
}

static int by_seconds(const void *left, const void *right) {
	double a = ((const struct inside_part *)left)->cell->run_seconds;
	double b = ((const struct inside_part *)right)->cell->run_seconds;
	return (a < b) - (a > b);
}

static int by_calls(const void *left, const void *right) {
	uint64_t a = ((const struct inside_part *)left)->cell->before_calls;
	uint64_t b = ((const struct inside_part *)right)->cell->before_calls;
	return (a > b) - (a < b);
}

/* False: one of them has not been searched. */
static bool members_find(struct inside_session *session, struct inside_joint *joint) {
	struct inside_part *all = mem_alloc(INSIDE_CONTEXTS * INSIDE_CELLS, sizeof *all);
	size_t count = 0;
	bool done = true;
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; k < session->subjects[i]->count; k++) {
			struct inside_known *cell = session->subjects[i]->cells[k];
			if (!is_candidate(cell))
				continue;
			done = done && inside_known_done(cell);
			all[count] = (struct inside_part){.cell = cell};
			options_find(&all[count], 2);
			count += all[count].count > 1;
		}
	qsort(all, count, sizeof *all, by_seconds);
	joint->count = count < INSIDE_MEMBERS ? count : INSIDE_MEMBERS;
	qsort(all, joint->count, sizeof *all, by_calls);
	memcpy(joint->members, all, joint->count * sizeof *all);
	free(all);
	return done && joint->count > 1;
}

/* The best of each is where the search begins, with what the calls say of the sum. */
static void joint_begin(struct inside_joint *joint) {
	int config[SPACE_PARAMS_MAX];
	double before = 0, after = 0;
	for (size_t i = 0; i < joint->count; i++) {
		struct inside_part *member = &joint->members[i];
		struct inside_known *cell = member->cell;
		config[i] = cell->best != cell->subject->start;
		double relative = config[i] ? inside_tried_get(cell, cell->best)->relative : 0;
		before += member->weight * cell->default_s;
		after += member->weight * cell->default_s * exp(isfinite(relative) ? relative : 0);
	}
	if (!space_index(joint->subject->space, config, &joint->known->best) || joint->known->best == joint->subject->start)
		return;
	struct inside_tried *tried = inside_tried_get(joint->known, joint->known->best);
	tried->relative = before > 0 ? log(after / before) : 0;
	tried->error = GAIN;
	tried->calls = INSIDE_SEEN;
}

bool inside_joint_make(struct inside_session *session) {
	struct inside_joint *joint = &session->joint;
	if (!members_find(session, joint))
		return false;
	double most = floor(pow(PRODUCT_MOST, 1.0 / (double)joint->count) + 1e-9);
	char *text = mem_strdup("");
	for (size_t i = 0; i < joint->count; i++) {
		struct inside_part *member = &joint->members[i];
		member->weight = (double)member->cell->before_calls / (double)joint->members[0].cell->before_calls;
		options_find(member, most < 2 ? 2 : most < INSIDE_JOINT ? (size_t)most : INSIDE_JOINT);
		char *longer = mem_printf("%sword c%zu 0 :%.*s\n", text, i, 2 * (int)member->count, " 0 1 2 3 4 5");
		free(text);
		text = longer;
	}
	joint->subject = subject_new("jointly", text);
	joint->known = inside_known_get(session, joint->subject, "");
	joint_begin(joint);
	joint->applied = joint->known->best;
	free(text);
	return true;
}

static void subject_free(struct inside_subject *subject) {
	if (!subject)
		return;
	for (size_t i = 0; i < subject->count; i++) {
		search_free(subject->cells[i]->search);
		free(subject->cells[i]->tried);
		json_decref(subject->cells[i]->asked);
		free(subject->cells[i]->problem);
		free(subject->cells[i]);
	}
	free(subject->cells);
	space_free(subject->space);
	json_decref(subject->otherwise);
	free(subject->kernel);
	free(subject->text);
	free(subject);
}

struct inside_session *inside_session_new(uint64_t seed) {
	struct inside_session *session = mem_alloc(1, sizeof *session);
	session->seed = seed;
	session->scratch.fd = -1;
	return session;
}

static void ring_drop(struct inside_session *session) {
	if (session->ring)
		munmap(session->ring, sizeof *session->ring);
	if (session->path)
		unlink(session->path);
	free(session->path);
	session->path = NULL;
	session->ring = NULL;
}

void inside_session_free(struct inside_session *session) {
	if (!session)
		return;
	ring_drop(session);
	if (session->scratch.path)
		scratch_close(&session->scratch);
	for (size_t i = 0; i < session->count; i++)
		subject_free(session->subjects[i]);
	subject_free(session->joint.subject);
	free(session->subjects);
	free(session);
}

/* The file is whole before the library can see it. */
static int ring_make(struct inside_session *session, const struct inside_mode *mode, struct err *err) {
	struct inside_ring head = {.size = sizeof head, .learns = mode->learns, .share = mode->share};
	head.credit = mode->credit;
	head.seed = (uint32_t)session->seed;
	memcpy(head.magic, INSIDE_MAGIC, sizeof head.magic);
	if (!session->scratch.path && scratch_open(&session->scratch, SCRATCH_INSIDE, err))
		return -1;
	session->path = mem_printf("%s/ring", session->scratch.path);
	int fd = open(session->path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	/* without holes, because a full disk would end whoever writes into one by SIGBUS */
	int why = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof head);
	if (!why && pwrite(fd, &head, offsetof(struct inside_ring, contexts), 0) < 0)
		why = errno;
	if (fd >= 0)
		close(fd);
	session->ring = why ? NULL : ssi_ring_open(session->path);
	return session->ring
	           ? 0
	           : err_set(err, ERR_FAILED, scratch_hint(why), "cannot make %s: %s", session->path, strerror(why));
}

int inside_run_begin(struct inside_session *session, const struct inside_mode *mode, json_t *environment,
                     struct err *err) {
	mem_auto char *table = inside_session_table(session, false);
	ring_drop(session);
	session->mode = *mode;
	if (ring_make(session, mode, err))
		return -1;
	json_object_set_new(environment, INSIDE_RING, json_string(session->path));
	if (table)
		json_object_set_new(environment, INSIDE_TABLE, json_string(table));
	return 0;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Each cell is a search of the store, for the kernel PROGRAM:LABEL, whose result has what was learned as "inside":
 *     {"space": TEXT, "problem": TEXT, "searched", "default", "run", "gain", "gain_error", "gain_calls",
 *      "jointly", "debt": [TIME, LOST, LAST, LEFT], "tried": [[CONFIG, relative, error, cost, calls, failed]..]} */
#include "base/json/js.h"
#include "tuner/inside/inside_impl.h"
#include "tuner/result/result.h"

static const double DOUBTED = 0.15;
static const double FIRST_LOSS = 0.1; /* of a run that asks for the first time, as a guess */
enum { TRIED_MOST = 4096, TABLE_MOST = 100 << 10 };

static json_t *config_json(const struct inside_subject *subject, uint64_t index) {
	return index == UINT64_MAX || !subject->space ? json_incref(subject->otherwise)
	                                              : space_config_json(subject->space, index);
}

struct inside_account inside_session_account(const struct inside_session *session) {
	struct inside_account account = {.contexts = session->count,
	                                 .trials = session->trials,
	                                 .seconds = session->seconds,
	                                 .lost = session->lost,
	                                 .done = !session->joint.known || inside_known_done(session->joint.known)};
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; k < session->subjects[i]->count; k++) {
			struct inside_known *cell = session->subjects[i]->cells[k];
			if (!cell->calls && !cell->shared) /* another program's */
				continue;
			account.cells++;
			account.better += inside_known_faster(cell);
			account.done = account.done && inside_known_done(cell);
		}
	if (session->ring) {
		account.seconds += 1e-9 * (double)atomic_load(&session->ring->ns);
		account.lost += 1e-9 * (double)atomic_load(&session->ring->spent_ns);
	}
	return account;
}

/* ---- the table ---- */

static void settings_write(FILE *out, const json_t *config) {
	fputs(" :", out);
	js_members (name, value, config) {
		fputc(' ', out);
		ssi_text_write(out, name);
		fputc('=', out);
		if (json_is_string(value)) {
			fputc('\'', out);
			ssi_text_write(out, json_string_value(value));
		} else if (json_is_integer(value)) {
			fprintf(out, "%lld", (long long)json_integer_value(value));
		} else {
			fprintf(out, "%.17g", json_number_value(value));
		}
	}
}

static bool is_used(const struct inside_known *cell, bool proven) {
	if (cell->best == cell->subject->start)
		return false;
	if (proven && cell->subject->withheld)
		return false;
	return proven ? cell->proven || (cell->calls > 0 && inside_known_faster(cell)) : true;
}

/* One of the classes of this context or, as the program then asks for all of its choices, of another one of the same
 * program, where this one cannot have its default. */
static bool any_used(const struct inside_session *session, const struct inside_subject *subject, bool proven) {
	size_t program = strcspn(subject->kernel, ":") + 1;
	for (size_t i = 0; i < session->count; i++) {
		const struct inside_subject *other = session->subjects[i];
		bool concerns =
			other == subject || (subject->without_default && strncmp(other->kernel, subject->kernel, program) == 0);
		for (size_t k = 0; concerns && k < other->count; k++)
			if (is_used(other->cells[k], proven))
				return true;
	}
	return false;
}

/* Where the default holds for one class of problems, it must not get the values of another one; and where it cannot be
 * had, the best of what was tried takes its place. */
static void line_write(FILE *out, const struct inside_session *session, struct inside_known *cell, bool proven) {
	bool used = is_used(cell, proven);
	uint64_t index = used ? cell->best : inside_known_leader(cell);
	if (proven && !any_used(session, cell->subject, proven))
		return;
	used = used || (cell->subject->without_default && index != cell->subject->start);
	ssi_text_write(out, cell->subject->kernel);
	fprintf(out, "%s%s", *cell->problem ? " " : "", cell->problem);
	if (used) {
		js_auto json_t *config = config_json(cell->subject, index);
		settings_write(out, config);
	}
	double relative = used ? inside_tried_get(cell, index)->relative : 0;
	if (!proven && cell->default_s > 0)
		fprintf(out, " @%.9g", cell->default_s);
	if (!proven && used && isfinite(relative))
		fprintf(out, " ~%.6g", relative);
	fputc('\n', out);
}

char *inside_session_table(const struct inside_session *session, bool proven) {
	char *text = NULL;
	size_t size = 0, empty;
	FILE *out = open_memstream(&text, &size);
	fputs("sweetspot-inside 1\n", out);
	fflush(out);
	empty = size;
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; size < TABLE_MOST - 4096 && k < session->subjects[i]->count; k++) {
			line_write(out, session, session->subjects[i]->cells[k], proven);
			fflush(out);
		}
	fclose(out);
	if (size > empty && size < TABLE_MOST)
		return text;
	free(text);
	return NULL;
}

/* By the values that the table gives. A default that cannot be had was measured in another run, when the machine may
 * have been slower. */
static double gain_of(const struct inside_known *cell) {
	const struct inside_subject *subject = cell->subject;
	uint64_t index = cell->best == subject->start && subject->without_default ? inside_known_leader(cell) : cell->best;
	double relative = index == subject->start ? 0 : inside_tried_get((struct inside_known *)cell, index)->relative;
	if (subject->without_default && !cell->searched)
		return NAN;
	if (subject->without_default && relative < 0 && relative > -DOUBTED)
		relative = 0;
	return isfinite(relative) ? cell->run_seconds * (exp(-relative) - 1) : 0;
}

static bool is_of(const struct inside_subject *subject, const char *program) {
	size_t length = strlen(program);
	return subject->space && strncmp(subject->kernel, program, length) == 0 && subject->kernel[length] == ':';
}

double inside_session_gain(const struct inside_session *session, const char *program) {
	double gain = 0;
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; is_of(session->subjects[i], program) && k < session->subjects[i]->count; k++)
			gain += gain_of(session->subjects[i]->cells[k]);
	return gain;
}

bool inside_session_affords(const struct inside_session *session, const char *program, double share) {
	double expected = 0, left = 0;
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; is_of(session->subjects[i], program) && k < session->subjects[i]->count; k++) {
			const struct inside_known *cell = session->subjects[i]->cells[k];
			left += share * (cell->debt.time + cell->run_seconds) - cell->debt.lost;
			expected += isnan(cell->debt.last) ? FIRST_LOSS * cell->run_seconds : cell->debt.last;
		}
	return fmax(0, expected) <= left;
}

/* ---- to the store ---- */

static json_t *tried_json(const struct inside_known *cell) {
	json_t *list = json_array();
	for (size_t i = 0; i < cell->count && i < TRIED_MOST; i++) {
		const struct inside_tried *tried = &cell->tried[i];
		if (tried->failed || (tried->epoch == cell->epoch && tried->calls > 0))
			json_array_append_new(list, json_pack("[o,o,o,o,I,b]", config_json(cell->subject, tried->index),
			                                      js_number(tried->relative), js_number(tried->error),
			                                      js_number(tried->cost), (json_int_t)tried->calls, tried->failed));
	}
	return list;
}

/* A proposal that was not measured yet is made again by a later session, which begins its search anew. */
static json_t *inside_json(const struct inside_known *cell) {
	const struct inside_debt *debt = &cell->debt;
	return json_pack("{s:s,s:s,s:b,s:o,s:f,s:o,s:o,s:I,s:b,s:[f,f,o,f],s:o}", "space", cell->subject->text, "problem",
	                 cell->problem, "searched", cell->searched && !inside_known_waits(cell), "default",
	                 js_number(cell->default_s > 0 ? cell->default_s : NAN), "run", cell->run_seconds, "gain",
	                 js_number(cell->gain), "gain_error", js_number(cell->gain_error), "gain_calls",
	                 (json_int_t)cell->gain_calls, "jointly", cell->jointly, "debt", debt->time, debt->lost,
	                 js_number(debt->last), debt->left, "tried", tried_json(cell));
}

static enum verdict verdict_for(struct inside_known *cell, const json_t *proof) {
	if (cell->best == cell->subject->start)
		return cell->searched ? VERDICT_TIE : VERDICT_UNDECIDED;
	if (cell->subject->withheld || (proof && verdict_of(proof) != VERDICT_FASTER))
		return VERDICT_UNDECIDED;
	if (inside_known_faster(cell) || cell->proven)
		return VERDICT_FASTER;
	return inside_known_done(cell) ? VERDICT_TIE : VERDICT_UNDECIDED;
}

static struct speedup speedup_for(const struct inside_known *cell) {
	const struct inside_tried *best = NULL;
	for (size_t i = 0; i < cell->count; i++)
		best = cell->tried[i].index == cell->best ? &cell->tried[i] : best;
	double gain = cell->gain_calls ? cell->gain : best ? -best->relative : NAN;
	double error = cell->gain_calls ? cell->gain_error : best ? best->error : NAN;
	if (cell->best == cell->subject->start)
		gain = error = 0;
	return (struct speedup){exp(gain), exp(gain - 2 * error), exp(gain + 2 * error)};
}

static json_t *setup_json(json_t *config, double seconds) {
	return json_pack("{s:o,s:o,s:n,s:s}", "config", config, "median", js_number(seconds), "ci", "unit", "s");
}

static void setups_add(json_t *to, const struct inside_known *cell) {
	double before = cell->default_s > 0 ? cell->default_s : cell->calls ? cell->seconds / (double)cell->calls : 0;
	struct speedup speedup = speedup_for(cell);
	json_object_set_new(to, "baseline", setup_json(json_incref(cell->subject->otherwise), before));
	json_object_set_new(
		to, "best",
		setup_json(config_json(cell->subject, cell->best), speedup.ratio > 0 ? before / speedup.ratio : before));
	json_object_set_new(to, "speedup", speedup_json(speedup));
}

static json_t *result_json(const struct inside_session *session, struct inside_known *cell, const json_t *proof) {
	const struct inside_subject *subject = cell->subject;
	enum verdict verdict = verdict_for(cell, proof);
	json_t *result = json_pack("{s:s,s:O,s:s,s:s,s:I,s:{s:f,s:I},s:I,s:f,s:{},s:o}", "kernel", subject->kernel,
	                           "problem", cell->asked, "objective", "time", "strategy", "auto", "seed",
	                           (json_int_t)session->seed, "space", "cartesian", space_cartesian(subject->space),
	                           "valid", (json_int_t)space_valid(subject->space), "evaluations", (json_int_t)cell->count,
	                           "elapsed_s", cell->seconds, "failures", "inside", inside_json(cell));
	setups_add(result, cell);
	verdict_set(result, verdict);
	json_object_set_new(result, "proven", json_boolean(verdict == VERDICT_FASTER || verdict == VERDICT_TIE));
	return result;
}

static int cell_keep(const struct inside_session *session, struct inside_known *cell, struct store *store,
                     int64_t store_session, const json_t *proof, struct err *err) {
	const struct inside_subject *subject = cell->subject;
	mem_auto char *asked = js_canonical(cell->asked), *today = js_canonical(subject->otherwise),
				  *hash = space_hash(subject->space);
	struct store_search search = {.id = cell->search_id,
	                              .session = store_session,
	                              .kernel = subject->kernel,
	                              .source = "",
	                              .problem = asked,
	                              .objective = "time",
	                              .strategy = "auto",
	                              .seed = session->seed,
	                              .space_hash = hash,
	                              .cartesian = space_cartesian(subject->space),
	                              .valid = space_valid(subject->space),
	                              .baseline = today};
	if (!cell->search_id && store_search_begin(store, &search, err))
		return -1;
	cell->search_id = search.id;
	js_auto json_t *result = result_json(session, cell, proof);
	if (store_search_end(store, search.id, "done", result, err))
		return -1;
	cell->proven = verdict_of(result) == VERDICT_FASTER;
	cell->is_new = false;
	return 0;
}

int inside_session_keep(struct inside_session *session, struct store *store, int64_t store_session, const json_t *proof,
                        struct err *err) {
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; k < session->subjects[i]->count; k++) {
			struct inside_known *cell = session->subjects[i]->cells[k];
			bool proved = proof && cell->calls > 0 && cell->count > 0; /* not of another program */
			bool wanted = session->subjects[i]->space && (cell->is_new || proved);
			if (wanted && cell_keep(session, cell, store, store_session, proof, err))
				return -1;
		}
	return 0;
}

bool inside_session_is_new(const struct inside_session *session) {
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; k < session->subjects[i]->count; k++)
			if (session->subjects[i]->space && session->subjects[i]->cells[k]->is_new)
				return true;
	return false;
}

/* ---- from the store ---- */

/* A kept configuration belongs to this space, but the text may have been edited. */
static bool index_of(const struct inside_subject *subject, const json_t *config, uint64_t *index) {
	if (json_is_object(config) && space_config_read(subject->space, config, NULL, index, NULL) == 0)
		return true;
	*index = UINT64_MAX;
	return json_is_object(config) && json_equal(config, subject->otherwise);
}

static void tried_read(struct inside_known *cell, const json_t *list) {
	js_each (one, list) {
		uint64_t index;
		if (one_at == TRIED_MOST || !index_of(cell->subject, json_array_get(one, 0), &index))
			continue;
		struct inside_tried *tried = inside_tried_get(cell, index);
		const json_t *relative = json_array_get(one, 1), *error = json_array_get(one, 2);
		tried->relative = json_is_number(relative) ? json_number_value(relative) : NAN;
		tried->error = json_is_number(error) ? json_number_value(error) : NAN;
		tried->cost = json_number_value(json_array_get(one, 3));
		json_int_t calls = json_integer_value(json_array_get(one, 4));
		tried->calls = calls > 0 && calls < 1000 && isfinite(tried->relative) ? (unsigned)calls : 0;
		tried->failed = json_is_true(json_array_get(one, 5));
	}
}

static void cell_read(struct inside_known *cell, const json_t *result, const json_t *inside) {
	tried_read(cell, json_object_get(inside, "tried"));
	cell->searched = js_bool_or(inside, "searched", false);
	cell->jointly = js_bool_or(inside, "jointly", false);
	cell->default_s = fmax(0, js_real_or(inside, "default", 0));
	cell->run_seconds = fmax(0, js_real_or(inside, "run", 0));
	const json_t *debt = json_object_get(inside, "debt"), *last = json_array_get(debt, 2);
	cell->debt = (struct inside_debt){
		fmax(0, json_number_value(json_array_get(debt, 0))), json_number_value(json_array_get(debt, 1)),
		json_is_number(last) ? json_number_value(last) : NAN, json_number_value(json_array_get(debt, 3))};
	uint64_t index;
	if (!index_of(cell->subject, js_at(result, "best.config"), &index) || index == cell->subject->start)
		return;
	cell->best = index;
	cell->proven = verdict_of(result) == VERDICT_FASTER && js_bool_or(result, "proven", false);
	cell->gain = js_real_or(inside, "gain", NAN);
	cell->gain_error = js_real_or(inside, "gain_error", NAN);
	int64_t calls = js_int_or(inside, "gain_calls", 0);
	cell->gain_calls = calls > 0 && calls < 1 << 20 && isfinite(cell->gain) ? (unsigned)calls : 0;
}

static int row_read(void *ctx, const struct store_row *row) {
	struct inside_session *session = ctx;
	const json_t *inside = json_object_get(row->result, "inside");
	const char *text = js_string_or(inside, "space", NULL), *problem = js_string_or(inside, "problem", NULL);
	if (!text || !problem || strlen(text) >= INSIDE_SPACE || strlen(row->kernel) >= INSIDE_NAME)
		return 0;
	struct inside_subject *subject = inside_subject_get(session, row->kernel, text);
	if (subject->space)
		cell_read(inside_known_get(session, subject, problem), row->result, inside);
	return 0;
}

int inside_session_recall(struct inside_session *session, struct store *store, const char *fingerprint,
                          struct err *err) {
	const struct store_filter filter = {.fingerprint = fingerprint};
	return store_each(store, STORE_RESULTS, &filter, row_read, session, err);
}

/* ---- for people ---- */

json_t *inside_session_json(const struct inside_session *session) {
	json_t *list = json_array();
	for (size_t i = 0; i < session->count; i++)
		for (size_t k = 0; session->subjects[i]->space && k < session->subjects[i]->count; k++) {
			struct inside_known *cell = session->subjects[i]->cells[k];
			if (cell->calls == 0) /* of another program, or of a problem that it did not have this time */
				continue;
			json_t *one =
				json_pack("{s:s,s:O,s:I,s:f,s:I}", "name", cell->subject->kernel, "problem", cell->asked, "calls",
			              (json_int_t)cell->calls, "time", cell->seconds, "tried", (json_int_t)cell->count);
			setups_add(one, cell);
			json_object_set_new(one, "jointly", json_boolean(cell->jointly));
			json_object_set_new(one, "withheld", json_boolean(cell->subject->withheld));
			verdict_set(one, verdict_for(cell, NULL));
			json_object_set_new(one, "gain", js_number(speedup_for(cell).ratio));
			json_array_append_new(list, one);
		}
	return list;
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <ctype.h>
#include <math.h>

#include "tuner/space/space_impl.h"

static const double SAME = 0.5;    /* distance within which a wish rounds to the level */
static const double ABSENCE = 0.5; /* cost of a wish for a parameter that is absent */
static const double INDIFFERENT = 0.01;

/* A prefix of a configuration. */
struct beginning {
	double cost;
	uint64_t index;
	uint32_t node;
};

struct beam {
	struct beginning at[SPACE_NEAREST_MAX];
	size_t count;
};

struct level {
	const struct space_param *param;
	double wish;
	struct beam *next;
};

static double branch_cost(const struct level *level, uint32_t branch) {
	const struct space_param *p = level->param;
	double count = (double)p->count, wish = level->wish;
	if (isnan(wish))
		return INDIFFERENT * (p->ordered ? fabs(branch - (count - 1) / 2) / count : branch > 0);
	double off = fabs(branch - wish);
	if (!p->ordered)
		return off > SAME;
	return (off > SAME) + off / count;
}

/* False: the beam is full of better prefixes. */
static bool beam_add(struct beam *beam, struct beginning new) {
	size_t at = beam->count;
	if (at == SPACE_NEAREST_MAX && new.cost >= beam->at[--at].cost)
		return false;
	for (; at > 0 && beam->at[at - 1].cost > new.cost; at--)
		beam->at[at] = beam->at[at - 1];
	beam->at[at] = new;
	beam->count += beam->count < SPACE_NEAREST_MAX;
	return true;
}

static bool follow(const struct level *level, const struct diagram *d, const struct diagram_edge *edge,
                   const struct beginning *from, uint32_t branch) {
	bool absent = branch == level->param->count;
	double cost = !absent ? branch_cost(level, branch) : isnan(level->wish) ? 0 : ABSENCE;
	uint64_t before = edge->before + (branch - edge->branch) * d->nodes[edge->child].count;
	return beam_add(level->next, (struct beginning){from->cost + cost, from->index + before, edge->child});
}

/* Goes outwards from the level nearest to the wish, as long as the cost can still compete. */
static void follow_run(const struct level *level, const struct diagram *d, const struct diagram_edge *edge,
                       uint32_t run, const struct beginning *from) {
	uint32_t first = edge->branch, end = edge->branch + run, count = (uint32_t)level->param->count;
	if (end > count && !follow(level, d, edge, from, count) && run == 1)
		return;
	end = end < count ? end : count;
	if (first >= end)
		return;
	double middle = level->param->ordered ? (double)(count - 1) / 2 : 0;
	double want = fmin(fmax(round(isnan(level->wish) ? middle : level->wish), first), end - 1);
	uint32_t up = (uint32_t)want, down = up;
	bool rising = true, falling = true;
	while (rising || falling) {
		rising = rising && up < end && follow(level, d, edge, from, up++);
		falling = falling && down > first && follow(level, d, edge, from, --down);
	}
}

size_t space_nearest(const struct space *space, const double *wish, uint64_t *out, size_t max) {
	const struct diagram *d = space->diagram;
	struct beam beams[2], *now = &beams[0], *next = &beams[1];
	now->count = 1;
	now->at[0] = (struct beginning){.node = d->root};
	for (size_t depth = 0; depth < d->depth; depth++) {
		const struct level level = {&space->params[d->order[depth]], wish[d->order[depth]], next};
		next->count = 0;
		for (size_t i = 0; i < now->count; i++) {
			const struct diagram_node *node = &d->nodes[now->at[i].node];
			for (uint32_t e = 0; e < node->edges; e++)
				follow_run(&level, d, &d->edges[node->first + e], diagram_run(d, node, e), &now->at[i]);
		}
		struct beam *swap = now;
		now = next;
		next = swap;
	}
	size_t count = now->count < max ? now->count : max;
	for (size_t i = 0; i < count; i++)
		out[i] = now->at[i].index;
	return count;
}

struct chooser {
	const struct space *space;
	const struct part_source *sources;
	size_t count;
	uint64_t placed;
};

#define BIT(param) (UINT64_C(1) << (param))

static bool can_place(const struct chooser *c, int param) {
	return !(c->placed & BIT(param)) && !(c->space->whens[param].mask & ~c->placed);
}

static double weight(const struct chooser *c, uint64_t mask) {
	double sum = 0;
	for (; mask; mask &= mask - 1)
		sum += log2((double)space_branches(c->space, __builtin_ctzll(mask)));
	return sum;
}

/* The number of combinations of placed parameters that undecided parts still depend on. */
static double width(const struct chooser *c, uint64_t placed) {
	uint64_t needed = 0;
	for (size_t i = 0; i < c->count; i++)
		if (c->sources[i].mask & ~placed)
			needed |= c->sources[i].mask & placed;
	return weight(c, needed);
}

static int next_declared(const struct chooser *c) {
	int param = 0;
	while (!can_place(c, param))
		param++;
	return param;
}

static int next_narrow(const struct chooser *c) {
	int best = -1;
	double least = INFINITY;
	for (int param = 0; param < (int)c->space->param_count; param++) {
		if (!can_place(c, param))
			continue;
		double own = width(c, c->placed | BIT(param));
		if (own < least) {
			least = own;
			best = param;
		}
	}
	return best;
}

static int next_finish(const struct chooser *c) {
	uint64_t target = 0;
	double least = INFINITY;
	for (size_t i = 0; i < c->count; i++) {
		uint64_t left = c->sources[i].mask & ~c->placed;
		double own = weight(c, left);
		if (left && own < least) {
			least = own;
			target = left;
		}
	}
	/* A parameter that it waits for may itself wait for those of its condition. */
	for (;;) {
		uint64_t more = target;
		for (uint64_t rest = target; rest; rest &= rest - 1) {
			int param = __builtin_ctzll(rest);
			if (can_place(c, param))
				return param;
			more |= c->space->whens[param].mask & ~c->placed;
		}
		if (more == target)
			return next_declared(c);
		target = more;
	}
}

void space_order_make(const struct space *space, const struct part_source *sources, size_t count, enum space_order kind,
                      int *order) {
	struct chooser c = {.space = space, .sources = sources, .count = count};
	for (size_t i = 0; i < space->param_count; i++) {
		order[i] = kind == ORDER_NARROW ? next_narrow(&c) : kind == ORDER_FINISH ? next_finish(&c) : next_declared(&c);
		c.placed |= BIT(order[i]);
	}
}

static const char hint[] = "write words or numbers as a,b,c and ranges as 1..8, 0..64+8, 16..512*2 or pow2(16,512)";

struct list {
	struct arena *arena;
	struct value *at;
	size_t count, room;
	struct err *err;
};

struct range {
	struct value first, last, step;
	char by; /* '+' or '*' */
};

static int push(struct list *list, struct value value) {
	if (list->count == DOMAIN_MAX)
		return err_set(list->err, ERR_USAGE, hint, "more than %d values", DOMAIN_MAX);
	list->at = mem_room(list->at, list->count, &list->room, sizeof *list->at);
	list->at[list->count++] = value;
	return 0;
}

static int push_whole_steps(struct list *list, int64_t first, int64_t last, int64_t step, char by) {
	for (int64_t i = first; i <= last;) {
		if (push(list, value_int(i)) != 0)
			return -1;
		if (by == '+' ? __builtin_add_overflow(i, step, &i) : __builtin_mul_overflow(i, step, &i))
			break;
	}
	return 0;
}

/* Rounds to what a user would write: 0.3, although 0.1 + 2 * 0.1 is a little more. */
static double rounded(double r) {
	char text[40];
	snprintf(text, sizeof text, "%.15g", r);
	return strtod(text, NULL);
}

/* Computes each value from the first, so that rounding errors do not add up; the end may be missed by a rounding error.
 */
static int push_real_steps(struct list *list, double first, double last, double step, char by) {
	double slack = fabs(last) * 1e-12;
	for (size_t i = 0;; i++) {
		double r = by == '+' ? first + (double)i * step : first * pow(step, (double)i);
		if (!(r <= last + slack))
			return 0;
		if (push(list, value_real(rounded(r))) != 0)
			return -1;
	}
}

static int push_range(struct list *list, struct range range, const char *item) {
	double first = value_number(range.first), last = value_number(range.last), step = value_number(range.step);
	bool whole = range.first.type == VALUE_INT && range.last.type == VALUE_INT && range.step.type == VALUE_INT;
	if (first > last)
		return err_set(list->err, ERR_USAGE, hint, "the range '%.100s' ends before it begins", item);
	if (range.by == '*' ? step <= 1 || first <= 0 : step <= 0)
		return err_set(list->err, ERR_USAGE, hint, "the step of '%.100s' does not reach its end", item);
	if (range.by == '+' && (last - first) / step > DOMAIN_MAX)
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' has more than %d values", item, DOMAIN_MAX);
	if (whole)
		return push_whole_steps(list, range.first.as.i, range.last.as.i, range.step.as.i, range.by);
	return push_real_steps(list, first, last, step, range.by);
}

/* Reads a number from text[0..size), which may be surrounded by blanks. */
static bool read_number(const char *text, size_t size, struct value *out) {
	char copy[64];
	while (size > 0 && isspace((unsigned char)*text)) {
		text++;
		size--;
	}
	while (size > 0 && isspace((unsigned char)text[size - 1]))
		size--;
	if (size == 0 || size >= sizeof copy)
		return false;
	memcpy(copy, text, size);
	copy[size] = 0;
	*out = value_parse(copy);
	return out->type == VALUE_INT || (out->type == VALUE_REAL && isfinite(out->as.r));
}

/* The sign of the step is the first one after a digit, a point or a blank; others belong to an exponent or to the
 * number itself. */
static const char *find_step(const char *text) {
	for (const char *at = text; *at; at++)
		if (*at == '*' || (*at == '+' && at > text && strchr("0123456789. ", at[-1])))
			return at;
	return NULL;
}

/* 1: read; 0: a word that is not a range; -1: an error. */
static int read_range(struct list *list, const char *item, struct range *range) {
	const char *dots = strstr(item, "..");
	if (!dots || !read_number(item, (size_t)(dots - item), &range->first))
		return 0;
	const char *end = dots + 2, *sign = find_step(end);
	*range = (struct range){range->first, value_int(0), value_int(1), sign ? *sign : '+'};
	if (!read_number(end, sign ? (size_t)(sign - end) : strlen(end), &range->last) ||
	    (sign && !read_number(sign + 1, strlen(sign + 1), &range->step)))
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' is not a range of numbers", item);
	return 1;
}

static int push_powers(struct list *list, const char *item) {
	const char *open = item + strlen("pow2("), *comma = strchr(open, ','), *close = strchr(open, ')');
	struct value first, last;
	size_t before = list->count;
	if (!comma || !close || close < comma || close[1] || !read_number(open, (size_t)(comma - open), &first) ||
	    !read_number(comma + 1, (size_t)(close - comma - 1), &last) || first.type != VALUE_INT ||
	    last.type != VALUE_INT)
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' is not pow2(FIRST,LAST)", item);
	for (int bit = 0; bit < 63; bit++)
		if (INT64_C(1) << bit >= first.as.i && INT64_C(1) << bit <= last.as.i &&
		    push(list, value_int(INT64_C(1) << bit)) != 0)
			return -1;
	if (list->count == before)
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' does not contain a power of two", item);
	return 0;
}

static int push_item(struct list *list, char *item) {
	struct range range;
	while (isspace((unsigned char)*item))
		item++;
	for (size_t size = strlen(item); size > 0 && isspace((unsigned char)item[size - 1]); size--)
		item[size - 1] = 0;
	if (!*item)
		return err_set(list->err, ERR_USAGE, hint, "a value is missing");
	for (const char *at = item; *at; at++)
		if (iscntrl((unsigned char)*at))
			return err_set(list->err, ERR_USAGE, hint, "a value has a control character");
	if (strncmp(item, "pow2(", 5) == 0)
		return push_powers(list, item);
	int is_range = read_range(list, item, &range);
	if (is_range != 0)
		return is_range < 0 ? -1 : push_range(list, range, item);
	struct value value = value_parse(item);
	if (value.type == VALUE_REAL && !isfinite(value.as.r))
		return err_set(list->err, ERR_USAGE, hint, "'%.100s' is not a finite number", item);
	if (value.type == VALUE_WORD)
		value = value_word(arena_strdup(list->arena, item));
	return push(list, value);
}

/* The end of the item at `text`: the next comma outside parentheses. */
static char *item_end(char *text) {
	bool inside = false;
	for (; *text && (*text != ',' || inside); text++)
		inside = *text == '(' || (inside && *text != ')');
	return text;
}

static int push_items(struct list *list, char *text) {
	for (bool more = true; more;) {
		char *end = item_end(text);
		more = *end == ',';
		*end = 0;
		if (push_item(list, text) != 0)
			return -1;
		text = end + 1;
	}
	return 0;
}

const struct value *domain_duplicate(const struct value *values, size_t count) {
	const struct value *found = NULL;
	mem_auto struct value *sorted = mem_alloc(count, sizeof *sorted);
	memcpy(sorted, values, count * sizeof *sorted);
	qsort(sorted, count, sizeof *sorted, value_order);
	size_t at = 1;
	while (at < count && value_order(&sorted[at - 1], &sorted[at]) != 0)
		at++;
	for (size_t i = 0; at < count && !found; i++)
		if (value_order(&values[i], &sorted[at]) == 0)
			found = &values[i];
	return found;
}

int domain_parse(const char *text, struct arena *arena, struct value **values, size_t *count, struct err *err) {
	struct list list = {.arena = arena, .err = err};
	char *copy = mem_strdup(text), word[64];
	int status = push_items(&list, copy);
	const struct value *twice = status == 0 ? domain_duplicate(list.at, list.count) : NULL;
	if (twice) {
		value_text(*twice, word, sizeof word);
		status = err_set(err, ERR_USAGE, hint, "the value '%s' occurs twice", word);
	}
	if (status == 0) {
		*count = list.count;
		*values = arena_alloc(arena, list.count, sizeof **values);
		memcpy(*values, list.at, list.count * sizeof **values);
	}
	free(list.at);
	free(copy);
	return status;
}

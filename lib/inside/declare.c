/* SPDX-License-Identifier: BSD-3-Clause */
/* A context's parameters, rules and configurations. A rule is evaluated as it is read, because it is needed a few times
 * in a run only. The tuner knows all of Python's operators (base/expr); a rule that is not understood here allows
 * nothing. */
#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/inside/inside_impl.h"

enum { NEST_MOST = 32, WORD_MOST = 256 };

struct term {
	double number;
	bool is_word;
	char word[WORD_MOST];
};

struct reader {
	const struct sweetspot_context *context;
	const struct inside_levels *levels;
	const char *at;
	int nest;
	bool failed;
};

static struct term either(struct reader *r);

static struct term number(double value) {
	return (struct term){.number = value};
}

static struct term fail(struct reader *r) {
	r->failed = true;
	return number(0);
}

static bool is_name(char c) {
	return isalnum((unsigned char)c) || c == '_';
}

static void skip(struct reader *r) {
	while (isspace((unsigned char)*r->at))
		r->at++;
}

/* Takes the text if it comes next: a word as a whole. */
static bool take(struct reader *r, const char *text) {
	size_t length = strlen(text);
	skip(r);
	if (strncmp(r->at, text, length) != 0 || (is_name(text[0]) && is_name(r->at[length])))
		return false;
	r->at += length;
	return true;
}

static bool holds(const struct term *term) {
	return term->is_word ? term->word[0] != '\0' : term->number != 0;
}

static struct term word_read(struct reader *r) {
	struct term term = {.is_word = true};
	char quote = *r->at++;
	size_t size = strcspn(r->at, quote == '"' ? "\"" : "'");
	if (size >= WORD_MOST || r->at[size] == '\0')
		return fail(r);
	memcpy(term.word, r->at, size);
	r->at += size + 1;
	return term;
}

static struct term value_of(const struct inside_param *param, uint16_t level) {
	const union inside_value *value = level < param->count ? &param->values[level] : &param->otherwise;
	struct term term = {.is_word = param->type == INSIDE_WORD};
	if (param->type == INSIDE_INT)
		term.number = (double)value->integer;
	else if (param->type == INSIDE_REAL)
		term.number = value->real;
	else if (strlen(value->word) < WORD_MOST)
		strcpy(term.word, value->word);
	return term;
}

static struct term call(struct reader *r, const char *name, size_t size) {
	bool least = size == 3 && strncmp(name, "min", 3) == 0, most = size == 3 && strncmp(name, "max", 3) == 0;
	if (!least && !most && !(size == 3 && strncmp(name, "abs", 3) == 0))
		return fail(r);
	struct term found = either(r);
	if (!least && !most)
		found.number = fabs(found.number);
	while ((least || most) && take(r, ",")) {
		struct term other = either(r);
		found.number = least ? fmin(found.number, other.number) : fmax(found.number, other.number);
	}
	return take(r, ")") && !found.is_word ? found : fail(r);
}

static struct term name_read(struct reader *r) {
	const char *name = r->at;
	while (is_name(*r->at))
		r->at++;
	size_t size = (size_t)(r->at - name);
	if (take(r, "("))
		return call(r, name, size);
	if (size == 4 && strncmp(name, "True", 4) == 0)
		return number(1);
	if (size == 5 && strncmp(name, "False", 5) == 0)
		return number(0);
	for (uint32_t i = 0; i < r->context->count; i++) {
		const struct inside_param *param = &r->context->params[i];
		if (strncmp(param->name, name, size) == 0 && param->name[size] == '\0')
			return value_of(param, r->levels->at[i]);
	}
	return fail(r);
}

static struct term atom(struct reader *r) {
	if (r->failed || ++r->nest > NEST_MOST)
		return fail(r);
	struct term term;
	char *end;
	if (take(r, "(")) {
		term = either(r);
		if (!take(r, ")"))
			term = fail(r);
	} else if (*r->at == '\'' || *r->at == '"') {
		term = word_read(r);
	} else if (isdigit((unsigned char)*r->at) || *r->at == '.') {
		term = number(strtod(r->at, &end));
		if (end == r->at)
			return fail(r);
		r->at = end;
	} else {
		term = isalpha((unsigned char)*r->at) || *r->at == '_' ? name_read(r) : fail(r);
	}
	r->nest--;
	return term;
}

/* Computes with two numbers; anything else cannot be computed. */
static struct term compute(struct reader *r, const struct term *a, char operation, const struct term *b) {
	if (a->is_word || b->is_word || (strchr("/f%", operation) && b->number == 0))
		return fail(r);
	switch (operation) {
	case '+':
		return number(a->number + b->number);
	case '-':
		return number(a->number - b->number);
	case '*':
		return number(a->number * b->number);
	case 'p':
		return number(pow(a->number, b->number));
	case '/':
		return number(a->number / b->number);
	case 'f':
		return number(floor(a->number / b->number));
	default:
		return number(a->number - b->number * floor(a->number / b->number));
	}
}

static struct term signed_atom(struct reader *r) {
	if (take(r, "-")) {
		struct term zero = number(0), term = signed_atom(r);
		return compute(r, &zero, '-', &term);
	}
	struct term base = atom(r);
	if (!take(r, "**"))
		return base;
	struct term power = signed_atom(r);
	return compute(r, &base, 'p', &power);
}

static struct term product(struct reader *r) {
	struct term left = signed_atom(r);
	for (;;) {
		char operation = take(r, "//") ? 'f' : take(r, "*") ? '*' : take(r, "/") ? '/' : take(r, "%") ? '%' : '\0';
		if (!operation || r->failed)
			return left;
		struct term right = signed_atom(r);
		left = compute(r, &left, operation, &right);
	}
}

static struct term sum(struct reader *r) {
	struct term left = product(r);
	for (;;) {
		char operation = take(r, "+") ? '+' : take(r, "-") ? '-' : '\0';
		if (!operation || r->failed)
			return left;
		struct term right = product(r);
		left = compute(r, &left, operation, &right);
	}
}

static bool is_equal(const struct term *a, const struct term *b) {
	return a->is_word == b->is_word && (a->is_word ? strcmp(a->word, b->word) == 0 : a->number == b->number);
}

static bool is_within(struct reader *r, const struct term *term) {
	bool found = false, brackets = take(r, "[");
	if (!brackets && !take(r, "("))
		return fail(r).is_word;
	do {
		struct term one = either(r);
		found = found || is_equal(term, &one);
	} while (take(r, ",") && !r->failed);
	if (!take(r, brackets ? "]" : ")"))
		fail(r);
	return found;
}

enum comparison { NONE, EQUAL, UNEQUAL, LESS, LESS_EQUAL, GREATER, GREATER_EQUAL, IN, NOT_IN };

static enum comparison comparison_read(struct reader *r) {
	static const struct {
		const char *text;
		enum comparison is;
	} all[] = {{"==", EQUAL}, {"!=", UNEQUAL}, {"<=", LESS_EQUAL}, {">=", GREATER_EQUAL},
	           {"<", LESS},   {">", GREATER},  {"in", IN}};
	const char *start = r->at;
	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (take(r, all[i].text))
			return all[i].is;
	if (take(r, "not") && take(r, "in"))
		return NOT_IN;
	r->at = start;
	return NONE;
}

static bool compare(struct reader *r, const struct term *a, enum comparison how, const struct term *b) {
	if (how == EQUAL || how == UNEQUAL)
		return is_equal(a, b) == (how == EQUAL);
	if (a->is_word != b->is_word)
		return fail(r).is_word;
	double order = a->is_word ? strcmp(a->word, b->word) : a->number - b->number;
	return how == LESS ? order < 0 : how == LESS_EQUAL ? order <= 0 : how == GREATER ? order > 0 : order >= 0;
}

/* a < b <= c holds where both do. */
static struct term comparisons(struct reader *r) {
	struct term left = sum(r);
	bool all = true, any = false;
	for (enum comparison how; !r->failed && (how = comparison_read(r)) != NONE; any = true) {
		if (how == IN || how == NOT_IN) {
			all = (is_within(r, &left) == (how == IN)) && all;
		} else {
			struct term right = sum(r);
			all = compare(r, &left, how, &right) && all;
			left = right;
		}
	}
	return any ? number(all) : left;
}

static struct term negation(struct reader *r) {
	if (!take(r, "not"))
		return comparisons(r);
	if (++r->nest > NEST_MOST)
		return fail(r);
	struct term term = negation(r);
	r->nest--;
	return number(!holds(&term));
}

static struct term both(struct reader *r) {
	struct term left = negation(r);
	while (!r->failed && take(r, "and")) {
		struct term right = negation(r);
		left = number(holds(&left) && holds(&right));
	}
	return left;
}

static struct term either(struct reader *r) {
	struct term left = both(r);
	while (!r->failed && take(r, "or")) {
		struct term right = both(r);
		left = number(holds(&left) || holds(&right));
	}
	return left;
}

static int rule_holds(const struct sweetspot_context *context, const char *rule, const struct inside_levels *levels) {
	struct reader r = {.context = context, .levels = levels, .at = rule};
	struct term term = either(&r);
	skip(&r);
	return r.failed || *r.at ? -1 : holds(&term);
}

enum { NAME_MOST = 200 };

static struct inside_param *param_find(const struct sweetspot_context *context, const char *name) {
	uint32_t count = atomic_load_explicit(&context->count, memory_order_acquire);
	for (uint32_t i = 0; i < count; i++)
		if (context->params[i].name == name || strcmp(context->params[i].name, name) == 0)
			return (struct inside_param *)&context->params[i];
	return NULL;
}

static void param_clear(struct inside_param *param) {
	for (uint16_t i = 0; param->type == INSIDE_WORD && param->values && i < param->count; i++)
		free(param->values[i].word);
	if (param->type == INSIDE_WORD)
		free(param->otherwise.word);
	free(param->values);
	free(param->name);
	*param = (struct inside_param){0};
}

/* values: an array of the type, as the program has it. */
static bool param_copy(struct inside_param *param, const void *values) {
	bool good = param->name && param->values;
	for (uint16_t i = 0; good && i < param->count; i++) {
		if (param->type == INSIDE_INT)
			param->values[i].integer = ((const long long *)values)[i];
		else if (param->type == INSIDE_REAL)
			param->values[i].real = ((const double *)values)[i];
		else
			good =
				((const char *const *)values)[i] && (param->values[i].word = strdup(((const char *const *)values)[i]));
	}
	return good;
}

/* A parameter that is declared after the first choice, or has too many values, keeps its default. */
static int declare(struct sweetspot_context *context, const char *name, enum inside_type type, const void *values,
                   size_t count, union inside_value otherwise) {
	if (!context || !name || !*name || strlen(name) > NAME_MOST || (count && !values))
		return -1;
	bool many = count > INSIDE_VALUES;
	count = many ? 0 : count;
	pthread_mutex_lock(&context->lock);
	struct inside_param *known = param_find(context, name);
	int failed = known ? known->type != type : context->count == INSIDE_PARAMS;
	if (!known && !failed) {
		struct inside_param *param = &context->params[context->count];
		*param = (struct inside_param){.name = strdup(name),
		                               .type = type,
		                               .count = context->sealed ? 0 : (uint16_t)count,
		                               .values = calloc(count + 1, sizeof *param->values),
		                               .otherwise = otherwise};
		if (type == INSIDE_WORD)
			param->otherwise.word = strdup(otherwise.word ? otherwise.word : "");
		failed = !param_copy(param, values) || (type == INSIDE_WORD && !param->otherwise.word);
		if (failed)
			param_clear(param);
		else
			atomic_store_explicit(&context->count, context->count + 1, memory_order_release);
	}
	pthread_mutex_unlock(&context->lock);
	return failed || many ? -1 : 0;
}

int sweetspot_context_int(sweetspot_context *context, const char *name, const long long *values, size_t count,
                          long long otherwise) {
	return declare(context, name, INSIDE_INT, values, count, (union inside_value){.integer = otherwise});
}

int sweetspot_context_real(sweetspot_context *context, const char *name, const double *values, size_t count,
                           double otherwise) {
	return declare(context, name, INSIDE_REAL, values, count, (union inside_value){.real = otherwise});
}

int sweetspot_context_word(sweetspot_context *context, const char *name, const char *const *values, size_t count,
                           const char *otherwise) {
	return declare(context, name, INSIDE_WORD, values, count, (union inside_value){.word = (char *)otherwise});
}

static bool rule_known(const struct sweetspot_context *context, const char *expression) {
	for (const struct inside_rule *rule = context->rules; rule; rule = rule->next)
		if (strcmp(rule->text, expression) == 0)
			return true;
	return false;
}

static struct inside_rule *rule_new(const char *expression) {
	struct inside_rule *rule = calloc(1, sizeof *rule);
	if (rule && !(rule->text = strdup(expression))) {
		free(rule);
		rule = NULL;
	}
	return rule;
}

int sweetspot_context_constraint(sweetspot_context *context, const char *expression) {
	if (!context || !expression)
		return -1;
	pthread_mutex_lock(&context->lock);
	bool understood = !strchr(expression, '\n') && rule_holds(context, expression, &context->otherwise.levels) >= 0;
	if (!context->sealed && !rule_known(context, expression)) {
		struct inside_rule *rule = rule_new(expression);
		context->broken = context->broken || !understood || !rule;
		if (rule) {
			rule->next = context->rules;
			context->rules = rule;
		}
	}
	pthread_mutex_unlock(&context->lock);
	return understood ? 0 : -1;
}

void ssi_context_without_default(sweetspot_context *context) {
	pthread_mutex_lock(&context->lock);
	context->needs_another = true;
	pthread_mutex_unlock(&context->lock);
}

bool ssi_allows(const struct sweetspot_context *context, const struct inside_levels *levels) {
	if (memcmp(levels, &context->otherwise.levels, sizeof *levels) == 0)
		return true;
	for (uint32_t i = 0; i < INSIDE_PARAMS; i++)
		if (levels->at[i] != INSIDE_OTHERWISE && (i >= context->count || levels->at[i] >= context->params[i].count))
			return false;
	for (const struct inside_rule *rule = context->rules; rule; rule = rule->next)
		if (rule_holds(context, rule->text, levels) != 1)
			return false;
	return !context->broken;
}

/* The level of a value that equals the default is the default. */
static void normalise(const struct sweetspot_context *context, struct inside_levels *levels) {
	for (uint32_t i = 0; i < context->count; i++) {
		const struct inside_param *param = &context->params[i];
		if (levels->at[i] >= param->count)
			continue;
		const union inside_value *value = &param->values[levels->at[i]];
		if (param->type == INSIDE_WORD  ? strcmp(value->word, param->otherwise.word) == 0
		    : param->type == INSIDE_INT ? value->integer == param->otherwise.integer
		                                : value->real == param->otherwise.real)
			levels->at[i] = INSIDE_OTHERWISE;
	}
}

const struct inside_config *ssi_config_of(struct sweetspot_context *context, const struct inside_levels *wanted) {
	struct inside_levels levels = *wanted;
	normalise(context, &levels);
	if (memcmp(&levels, &context->otherwise.levels, sizeof levels) == 0)
		return &context->otherwise;
	for (struct inside_config *config = context->configs; config; config = config->next)
		if (memcmp(&config->levels, &levels, sizeof levels) == 0)
			return config;
	struct inside_config *config = malloc(sizeof *config);
	if (!config)
		return NULL;
	*config = (struct inside_config){.next = context->configs, .levels = levels};
	return context->configs = config;
}

int ssi_chosen_level(const struct sweetspot_choice *choice, const char *name) {
	const struct inside_param *param = choice && choice->context && name ? param_find(choice->context, name) : NULL;
	const struct inside_config *config = choice ? choice->config : NULL;
	uint16_t level = param && config ? config->levels.at[param - choice->context->params] : INSIDE_OTHERWISE;
	return param && level < param->count ? level : -1;
}

static const union inside_value *chosen(const struct sweetspot_choice *choice, const char *name,
                                        enum inside_type type) {
	if (!choice || !choice->context || !choice->config || !name)
		return NULL;
	const struct inside_param *param = param_find(choice->context, name);
	if (!param || param->type != type)
		return NULL;
	const struct inside_config *config = choice->config;
	uint16_t level = config->levels.at[param - choice->context->params];
	return level < param->count ? &param->values[level] : &param->otherwise;
}

long long sweetspot_chosen_int(const struct sweetspot_choice *choice, const char *name) {
	const union inside_value *value = chosen(choice, name, INSIDE_INT);
	return value ? value->integer : 0;
}

double sweetspot_chosen_real(const struct sweetspot_choice *choice, const char *name) {
	const union inside_value *value = chosen(choice, name, INSIDE_REAL);
	return value ? value->real : NAN;
}

const char *sweetspot_chosen_word(const struct sweetspot_choice *choice, const char *name) {
	const union inside_value *value = chosen(choice, name, INSIDE_WORD);
	return value ? value->word : "";
}

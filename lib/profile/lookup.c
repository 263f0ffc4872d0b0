/* SPDX-License-Identifier: BSD-3-Clause */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "lib/profile/profile_impl.h"

static bool find_range(const struct ssp_sizes *sizes, const sweetspot_config *config, size_t *range) {
	for (*range = 0; *range < sizes->range_count; (*range)++)
		if (&sizes->ranges[*range].config == config)
			return true;
	return false;
}

struct ssp_place ssp_place_of(const sweetspot_profile *profile, const sweetspot_config *config) {
	struct ssp_place place = {0};
	for (size_t i = 0; i < profile->entry_count; i++)
		if (&profile->entries[i].config == config)
			return (struct ssp_place){.is_entry = true, .at = i};
	while (place.at < profile->sizes_count && !find_range(&profile->sizes[place.at], config, &place.range))
		place.at++;
	return place;
}

/* Without "proven", as in older profiles, the verdict stands, and an entry that somebody wrote without a verdict is
 * meant to be used. Where the baseline fails, any setting that works is better. */
enum ssp_use ssp_use_of(const json_t *entry) {
	const json_t *said = json_object_get(entry, "verdict");
	const char *verdict = said ? json_string_value(said) : "faster";
	bool open = !verdict || json_is_false(json_object_get(entry, "proven"));
	if (!open && (strcmp(verdict, "faster") == 0 || strcmp(verdict, "no baseline") == 0))
		return SSP_PROVEN;
	return !open && (strcmp(verdict, "tie") == 0 || strcmp(verdict, "slower") == 0) ? SSP_KEEPS : SSP_OPEN;
}

/* Indexes entries by kernel and objective. */
/* FNV-1a, 32 bits (Fowler, Noll, Vo, 1991). */
static uint32_t ssp_hash(const char *text) {
	uint32_t hash = 2166136261U;
	for (; *text; text++)
		hash = (hash ^ (unsigned char)*text) * 16777619U;
	return hash;
}

static const struct ssp_kernel *chain_find(const struct ssp_kernel *kernel, const char *name, const char *objective,
                                           uint32_t hash) {
	for (; kernel; kernel = kernel->chain)
		if (kernel->hash == hash && strcmp(kernel->name, name) == 0 &&
		    (!objective || strcmp(kernel->objective, objective) == 0))
			break;
	return kernel;
}

static const struct ssp_kernel *ssp_kernel_find(const struct sweetspot_profile *profile, const char *name,
                                                const char *objective) {
	uint32_t hash = ssp_hash(name);
	const struct ssp_kernel *first = profile->table[hash & (profile->slots - 1)];
	const struct ssp_kernel *found = chain_find(first, name, objective ? objective : "time", hash);
	if (found || objective)
		return found;
	found = chain_find(first, name, NULL, hash);
	/* Ambiguous: several match. */
	return found && chain_find(found->chain, name, NULL, hash) ? NULL : found;
}

static struct ssp_kernel *kernel_of(struct sweetspot_profile *profile, const char *name, const char *objective) {
	uint32_t hash = ssp_hash(name);
	struct ssp_kernel **slot = &profile->table[hash & (profile->slots - 1)];
	struct ssp_kernel *found = (struct ssp_kernel *)chain_find(*slot, name, objective, hash);
	if (found)
		return found;
	bool again = chain_find(*slot, name, NULL, hash) != NULL;
	found = &profile->kernels[profile->kernel_count++];
	*found = (struct ssp_kernel){.chain = *slot, .name = name, .objective = objective, .hash = hash, .again = again};
	*slot = found;
	return found;
}

static bool any_stale(const struct ssp_entry *entry) {
	for (; entry; entry = entry->next)
		if (entry->config.stale)
			return true;
	return false;
}

/* Ranges summarise results that have entries of their own. */
static void sizes_add(struct ssp_kernel *kernel, struct ssp_sizes *sizes) {
	bool stale = any_stale(kernel->entries);
	sizes->next = kernel->sizes;
	kernel->sizes = sizes;
	for (size_t i = 0; i < sizes->range_count; i++)
		sizes->ranges[i].config.stale = stale;
}

int ssp_index(struct sweetspot_profile *profile) {
	size_t most = profile->entry_count + profile->sizes_count;
	for (profile->slots = 16; profile->slots < 2 * most;)
		profile->slots *= 2;
	profile->kernels = ssp_arena_alloc(profile->arena, most, sizeof *profile->kernels);
	profile->table = ssp_arena_alloc(profile->arena, profile->slots, sizeof(struct ssp_kernel *));
	if (!profile->kernels || !profile->table)
		return -1;
	for (size_t i = 0; i < profile->entry_count; i++) {
		struct ssp_entry *entry = &profile->entries[i];
		struct ssp_kernel *kernel = kernel_of(profile, entry->kernel, entry->objective);
		entry->next = kernel->entries;
		kernel->entries = entry;
	}
	for (size_t i = 0; i < profile->sizes_count; i++)
		sizes_add(kernel_of(profile, profile->sizes[i].kernel, profile->sizes[i].objective), &profile->sizes[i]);
	return 0;
}

static const double ROUNDING = 1e-12;

/* The question, with the logarithms that every entry is compared with. */
struct question {
	const struct sweetspot_value *problem;
	double log[SSP_PROBLEM_MAX];
	size_t count;
};

/* "4096x2048", a size in two or three directions: its logarithms. 0 for any other word. */
static size_t size_logs(const char *word, double logs[3]) {
	size_t count = 0;
	for (const char *at = word; count < 3 && *at >= '1' && *at <= '9'; at++) {
		char *end;
		logs[count++] = log(strtod(at, &end));
		at = end;
		if (*at != 'x')
			return *at || count < 2 ? 0 : count;
	}
	return 0;
}

static double words_distance(const char *there, const char *asked) {
	double a[3], b[3], sum = 0;
	if (!there || strcmp(there, asked) == 0)
		return there ? 0 : INFINITY;
	size_t count = size_logs(there, a);
	if (count == 0 || size_logs(asked, b) != count)
		return INFINITY;
	for (size_t i = 0; i < count; i++)
		sum += (a[i] - b[i]) * (a[i] - b[i]);
	return sum;
}

/* Squared distance; INFINITY if one cannot replace the other. */
static double value_distance(const struct ssp_setting *there, const struct sweetspot_value *asked, double log_asked) {
	if (asked->word)
		return words_distance(there->word, asked->word);
	if (there->type == SSP_WORD || isnan(asked->number))
		return INFINITY;
	if (there->number == asked->number)
		return 0;
	double between = there->log - log_asked;
	return isnan(between) ? INFINITY : between * between; /* NaN: the number is not above 0 */
}

static double distance(const struct ssp_settings *there, const struct question *question, const char *but) {
	double sum = 0;
	for (size_t i = 0; i < question->count && sum < INFINITY; i++) {
		const struct sweetspot_value *asked = &question->problem[i];
		if (but && strcmp(asked->name, but) == 0)
			continue;
		const struct ssp_setting *setting = ssp_setting_find(there, asked->name);
		sum += setting ? value_distance(setting, asked, question->log[i]) : INFINITY;
	}
	return sum;
}

/* Where nothing is proven of the very problem, what was proven of another one does not take its place. */
static const struct ssp_entry *entry_nearest(const struct ssp_kernel *kernel, const struct question *question,
                                             double *least) {
	const struct ssp_entry *nearest = NULL;
	bool open = false; /* for now: another one of the same problem may be proven */
	*least = INFINITY;
	for (const struct ssp_entry *entry = kernel->entries; entry && (open || *least > 0); entry = entry->next) {
		double away = distance(&entry->problem, question, NULL);
		bool is_open = entry->use == SSP_OPEN, better = away < *least && !(is_open && away > 0);
		if (!better && !(open && !is_open && away == 0))
			continue;
		*least = away;
		nearest = entry;
		open = is_open;
	}
	return nearest;
}

static double size_asked(const struct question *question, const char *over) {
	for (size_t i = 0; i < question->count; i++)
		if (strcmp(question->problem[i].name, over) == 0)
			return question->problem[i].word ? NAN : question->problem[i].number;
	return NAN;
}

/* Sizes whose other members match the query. */
static const struct ssp_sizes *sizes_find(const struct ssp_kernel *kernel, const struct question *question,
                                          double *size) {
	for (const struct ssp_sizes *sizes = kernel->sizes; sizes; sizes = sizes->next) {
		*size = size_asked(question, sizes->over);
		if (*size > 0 && isfinite(*size) && distance(&sizes->problem, question, sizes->over) == 0)
			return sizes;
	}
	return NULL;
}

/* Between two ranges take the nearer one. */
static const struct ssp_range *range_find(const struct ssp_sizes *sizes, double size) {
	size_t i = 0;
	while (i + 1 < sizes->range_count && size >= sizes->ranges[i + 1].from)
		i++;
	const struct ssp_range *range = &sizes->ranges[i];
	if (i + 1 < sizes->range_count && size > range->to && range[1].from / size < size / range->to)
		range++;
	return range;
}

static bool setting_equal(const struct ssp_setting *a, const struct ssp_setting *b) {
	if (!a->word || !b->word)
		return !a->word && !b->word && a->number == b->number;
	return strcmp(a->word, b->word) == 0;
}

/* but: a name that b has more; NULL: none. */
static bool settings_equal(const struct ssp_settings *a, const struct ssp_settings *b, const char *but) {
	for (size_t i = 0; i < a->count; i++) {
		const struct ssp_setting *there = ssp_setting_find(b, a->items[i].name);
		if (!there || !setting_equal(&a->items[i], there))
			return false;
	}
	return b->count == a->count + (but && ssp_setting_find(b, but) ? 1 : 0);
}

/* A range says no more than the sizes that were tuned; without any, somebody wrote it. */
static enum ssp_use range_use(const struct ssp_kernel *kernel, const struct ssp_sizes *sizes,
                              const struct ssp_range *range) {
	bool proven = false, keeps = false, known = false;
	for (const struct ssp_entry *entry = kernel->entries; entry; entry = entry->next) {
		const struct ssp_setting *size = ssp_setting_find(&entry->problem, sizes->over);
		if (!size || size->word || !settings_equal(&sizes->problem, &entry->problem, sizes->over))
			continue;
		known = true;
		bool in = size->number >= range->from && size->number <= range->to;
		if (in && entry->use == SSP_OPEN)
			return SSP_OPEN;
		keeps = keeps || (in && entry->use == SSP_KEEPS);
		proven = proven ||
		         (entry->use == SSP_PROVEN && settings_equal(&range->config.settings, &entry->config.settings, NULL));
	}
	return proven || !known ? SSP_PROVEN : keeps ? SSP_KEEPS : SSP_OPEN;
}

enum ssp_use ssp_use_of_range(const sweetspot_profile *profile, size_t at, size_t range) {
	const struct ssp_sizes *sizes = &profile->sizes[at];
	return range_use(ssp_kernel_find(profile, sizes->kernel, sizes->objective), sizes, &sizes->ranges[range]);
}

static int status_of(const struct sweetspot_config *config, int fit) {
	return config->foreign ? SWEETSPOT_FOREIGN : config->stale ? SWEETSPOT_STALE : fit;
}

/* The cost at a size; NaN without a law, and beyond its sizes. */
static double ssp_law(const struct ssp_sizes *sizes, double size) {
	for (size_t i = 0; i < sizes->piece_count; i++) {
		const struct ssp_piece *piece = &sizes->pieces[i];
		double cost = piece->overhead + piece->factor * pow(size, piece->exponent);
		if (size >= piece->from && size <= piece->to)
			return isfinite(cost) && cost >= 0 ? cost : NAN;
	}
	return NAN;
}

static const struct sweetspot_config *sizes_answer(const struct ssp_sizes *sizes, const struct ssp_range *range,
                                                   double size, struct sweetspot_match *match) {
	double first = sizes->ranges[0].from, last = sizes->ranges[sizes->range_count - 1].to;
	match->fit = size >= first && size <= last ? SWEETSPOT_INTERPOLATED : SWEETSPOT_NEAREST;
	match->status = status_of(&range->config, match->fit);
	match->predicted = ssp_law(sizes, size);
	match->distance = size < first ? log(first / size) : size > last ? log(size / last) : 0;
	match->unit = sizes->unit;
	match->objective = sizes->objective;
	return &range->config;
}

static const struct sweetspot_config *entry_answer(const struct ssp_entry *entry, double away,
                                                   struct sweetspot_match *match) {
	match->fit = away == 0 ? SWEETSPOT_EXACT : SWEETSPOT_NEAREST;
	match->status = status_of(&entry->config, match->fit);
	match->measured = entry->median;
	match->predicted = away == 0 ? entry->median : NAN;
	match->speedup = entry->speedup;
	match->distance = sqrt(away);
	match->unit = entry->unit;
	match->objective = entry->objective;
	return &entry->config;
}

static bool question_set(struct question *question, const struct sweetspot_value *problem, size_t count) {
	question->problem = problem;
	question->count = count;
	if (count > SSP_PROBLEM_MAX || (count > 0 && !problem))
		return false;
	for (size_t i = 0; i < count; i++) {
		question->log[i] = !problem[i].word && problem[i].number > 0 ? log(problem[i].number) : NAN;
		if (!problem[i].name)
			return false;
	}
	return true;
}

static void match_clear(struct sweetspot_match *match) {
	*match = (struct sweetspot_match){
		.predicted = NAN, .measured = NAN, .speedup = NAN, .distance = NAN, .unit = "", .objective = ""};
}

static const struct sweetspot_config *find(const struct ssp_kernel *kernel, const struct question *question,
                                           struct sweetspot_match *match, enum ssp_use *use) {
	double away, size;
	const struct ssp_entry *entry = entry_nearest(kernel, question, &away);
	const struct ssp_sizes *sizes = entry && away == 0 ? NULL : sizes_find(kernel, question, &size);
	const struct ssp_range *range = sizes ? range_find(sizes, size) : NULL;
	const struct sweetspot_config *config = NULL;
	*use = range ? range_use(kernel, sizes, range) : SSP_OPEN;
	if (*use != SSP_OPEN)
		config = sizes_answer(sizes, range, size, match);
	/* Beyond all ranges an individually tuned problem may be nearer than the last range, or equal but for rounding. */
	if (entry && (!config || sqrt(away) <= match->distance * (1 + ROUNDING))) {
		config = entry_answer(entry, away, match);
		*use = entry->use;
	}
	return config;
}

const sweetspot_config *ssp_find(const sweetspot_profile *profile, const char *kernel, const char *objective,
                                 const struct sweetspot_value *problem, size_t count, struct sweetspot_match *match,
                                 enum ssp_use *use) {
	struct question question;
	match_clear(match);
	const struct ssp_kernel *found = profile && kernel ? ssp_kernel_find(profile, kernel, objective) : NULL;
	return found && question_set(&question, problem, count) ? find(found, &question, match, use) : NULL;
}

/* After a tie the program's own setting stays, so that there is nothing to hand out. */
const sweetspot_config *sweetspot_lookup(const sweetspot_profile *profile, const char *kernel, const char *objective,
                                         const struct sweetspot_value *problem, size_t count,
                                         struct sweetspot_match *match) {
	struct sweetspot_match ours;
	enum ssp_use use = SSP_OPEN;
	match = match ? match : &ours;
	const sweetspot_config *config = ssp_find(profile, kernel, objective, problem, count, match, &use);
	if (use == SSP_PROVEN)
		return config;
	match_clear(match);
	return NULL;
}

const char *sweetspot_status_word(int status) {
	static const char *const words[] = {"none", "exact", "interpolated", "nearest", "stale", "foreign"};
	return status >= 0 && (size_t)status < sizeof words / sizeof *words ? words[status] : "unknown";
}

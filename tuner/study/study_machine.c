/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Machines that are described by words, because a table rarely comes with the output of `sweetspot machine`. */
#include <math.h>

#include "base/json/js.h"
#include "base/text.h"
#include "tuner/study/study_impl.h"

static const char *const counts[] = {"packages", "numa_nodes", "cores", "threads", "llcs"}, *const caches[] = {
																								"l1d", "l2", "l3"};
enum { COUNTS = sizeof counts / sizeof *counts, CACHES = sizeof caches / sizeof *caches };
enum { PACKAGES = 0, CORES = 2, THREADS = 3, LLCS = 4 }; /* in counts */
static const double COUNT_MAX = 1 << 20, BYTES_MAX = 1e15;

/* "256K": a power of 1024 for each of K, M and G. False if it is not a positive number. */
static bool size_read(const char *text, double *bytes) {
	static const char prefixes[] = "kmg";
	char *end;
	*bytes = strtod(text, &end);
	char small = (char)(*end | 0x20);
	const char *prefix = *end ? strchr(prefixes, small) : NULL;
	if (prefix) {
		*bytes *= pow(1024, (double)(prefix - prefixes + 1));
		end += 1 + (end[1] == 'i');
	}
	end += *end == 'B';
	return end != text && *end == '\0' && *bytes >= 1 && isfinite(*bytes);
}

static int word_refuse(const char *key, struct err *err) {
	const char *known[COUNTS + CACHES];
	memcpy(known, counts, sizeof counts);
	memcpy(known + COUNTS, caches, sizeof caches);
	const char *near = near_word(key, known, COUNTS + CACHES);
	err_set(err, ERR_USAGE, "for example 'packages=2 cores=8 threads=16 l1d=32K l2=1M l3=16M'",
	        "\"%.40s\" does not describe a machine", key);
	return near ? err_hint(err, "did you mean %s?", near) : -1;
}

static int word_add(json_t *machine, char *word, struct err *err) {
	char *equals = strchr(word, '=');
	double value;
	if (!equals || equals == word)
		return word_refuse(word, err);
	*equals = '\0';
	bool count = text_is_among(word, counts, COUNTS), cache = text_is_among(word, caches, CACHES);
	if (strcmp(word, "sockets") == 0) {
		word = "packages";
		count = true;
	} else if (strcmp(word, "l1") == 0) {
		word = "l1d";
		cache = true;
	}
	if (!count && !cache)
		return word_refuse(word, err);
	if (!size_read(equals + 1, &value) || value > (count ? COUNT_MAX : BYTES_MAX) || value != floor(value))
		return err_set(err, ERR_USAGE, NULL, "%s=%.40s is not a positive whole number", word, equals + 1);
	json_object_set_new(count ? machine : json_object_get(machine, "caches"), word, json_integer((json_int_t)value));
	return 0;
}

/* 0 and null are unknown: `sweetspot machine` writes 0 for a cache that is missing. */
static int number_check(const json_t *in, const char *key, double most, double *value, struct err *err) {
	const json_t *number = json_object_get(in, key);
	*value = json_number_value(number);
	if (!number || json_is_null(number))
		return 0;
	if (json_is_number(number) && *value >= 0 && *value <= most && *value == floor(*value))
		return 0;
	return err_set(err, ERR_USAGE, NULL, "\"%s\" of a machine must be a whole number, at most %.0f", key, most);
}

static int order_check(const char *small, double less, const char *large, double more, struct err *err) {
	if (less <= more || more == 0)
		return 0;
	return err_set(err, ERR_USAGE, NULL, "a machine cannot have %s=%.0f with %s=%.0f", small, less, large, more);
}

int study_machine_check(const json_t *machine, struct err *err) {
	double count[COUNTS], cache[CACHES];
	const json_t *sizes = json_object_get(machine, "caches");
	if (sizes && !json_is_object(sizes))
		return err_set(err, ERR_USAGE, NULL, "\"caches\" of a machine must be an object");
	for (size_t i = 0; i < COUNTS; i++)
		if (number_check(machine, counts[i], COUNT_MAX, &count[i], err))
			return -1;
	for (size_t i = 0; i < CACHES; i++)
		if (number_check(sizes, caches[i], BYTES_MAX, &cache[i], err))
			return -1;
	/* a last level may be smaller than the one in front of it where caches are exclusive; nodes may have no processor
	 */
	return order_check(counts[PACKAGES], count[PACKAGES], counts[CORES], count[CORES], err) ||
	               order_check(counts[PACKAGES], count[PACKAGES], counts[THREADS], count[THREADS], err) ||
	               order_check(counts[LLCS], count[LLCS], counts[THREADS], count[THREADS], err) ||
	               order_check(counts[CORES], count[CORES], counts[THREADS], count[THREADS], err) ||
	               order_check(caches[0], cache[0], caches[1], cache[1], err) ||
	               order_check(caches[0], cache[0], caches[2], cache[2], err)
	           ? -1
	           : 0;
}

json_t *study_machine_json(const json_t *json, struct err *err) {
	json_t *machine = json_object_get(json, "machine");
	const json_t *one = json_is_object(machine) ? machine : json;
	if (one == json && !json_is_object(json_object_get(one, "caches")) && !json_object_get(one, "cores"))
		err_set(err, ERR_USAGE, NULL, "it does not describe a machine");
	else if (study_machine_check(one, err) == 0)
		return json_incref((json_t *)one);
	return err_null(err_hint(err, "`sweetspot machine --json` writes one"));
}

json_t *study_machine_words(const char *words, struct err *err) {
	js_auto json_t *machine = json_pack("{s:{}}", "caches");
	char *copy = mem_strdup(words), *rest = NULL;
	size_t count = 0;
	int failed = 0;
	for (char *word = strtok_r(copy, ", \t", &rest); word && !failed; word = strtok_r(NULL, ", \t", &rest)) {
		failed = word_add(machine, word, err);
		count++;
	}
	free(copy);
	if (!failed && count == 0)
		failed = word_refuse("", err);
	return failed || study_machine_check(machine, err) ? NULL : json_incref(machine);
}

/* The value behind "NAME:" at the beginning of a line at or behind `text`; NULL if there is none. */
static const char *line_value(const char *text, const char *name) {
	size_t length = strlen(name);
	for (const char *end, *at = text; *at; at = end + 1) {
		if (strncmp(at, name, length) == 0 && at[length] == ':')
			return at + length + 1 + strspn(at + length + 1, " \t");
		end = strchr(at, '\n');
		if (!end)
			break;
	}
	return NULL;
}

static double line_number(const char *text, const char *name) {
	const char *value = line_value(text, name);
	return value ? strtod(value, NULL) : 0;
}

/* "1.25 MB" */
static double cache_bytes(const char *text) {
	char *unit;
	double size = strtod(text, &unit);
	const char *prefix = unit + strspn(unit, " ");
	return size * (*prefix == 'k' || *prefix == 'K' ? 1 << 10
	               : *prefix == 'M'                 ? 1 << 20
	               : *prefix == 'G'                 ? 1 << 30
	                                                : 1);
}

/* Each cache has its level, size and the groups of threads that share one. */
static void likwid_caches(const char *text, json_t *machine) {
	static const char *const names[] = {"l1d", "l2", "l3"};
	for (const char *at = line_value(text, "Level"); at; at = line_value(at, "Level")) {
		long level = strtol(at, NULL, 10);
		const char *size = line_value(at, "Size"), *groups = line_value(at, "Cache groups");
		int count = 0;
		if (level < 1 || level > CACHES || !size)
			continue;
		json_object_set_new(json_object_get(machine, "caches"), names[level - 1],
		                    json_integer((json_int_t)fmin(cache_bytes(size), BYTES_MAX)));
		for (const char *c = groups; c && *c && *c != '\n'; c++)
			count += *c == '(';
		if (count)
			json_object_set_new(machine, "llcs", json_integer(count)); /* the last one stays */
	}
}

json_t *study_machine_likwid(const char *text, struct err *err) {
	double packages = line_number(text, "Sockets"), cores = line_number(text, "Cores per socket"),
		   threads = line_number(text, "Threads per core"), nodes = line_number(text, "NUMA domains");
	const char *cpu = line_value(text, "CPU name");
	if (!(packages >= 1) || !(cores >= 1) || !(threads >= 1) || packages * cores * threads > COUNT_MAX)
		return err_null(err_set(err, ERR_USAGE,
		                        "it takes a file of `lstopo FILE.xml`, `likwid-topology` or `sweetspot machine --json`",
		                        "it does not describe a machine"));
	js_auto json_t *machine =
		json_pack("{s:i,s:i,s:i,s:{}}", "packages", (int)packages, "cores", (int)(packages * cores), "threads",
	              (int)(packages * cores * threads), "caches");
	mem_auto char *name = mem_printf("%.*s", cpu ? (int)strcspn(cpu, "\r\n") : 0, cpu ? cpu : "");
	if (*name)
		json_object_set_new(machine, "cpu", js_text(name));
	if (nodes >= 1 && nodes <= COUNT_MAX)
		json_object_set_new(machine, "numa_nodes", json_integer((json_int_t)nodes));
	likwid_caches(text, machine);
	return study_machine_check(machine, err) ? NULL : json_incref(machine);
}

json_t *study_machine_unknown(void) {
	return json_pack("{s:b}", "unknown", 1);
}

bool study_machine_is_unknown(const json_t *machine) {
	return js_bool_or(machine, "unknown", false);
}

/* Values as they are shown. */
void study_rate(struct study *study, const char *name, double scale) {
	free(study->rate);
	/* "Throughput (Kops/s)" is a number of Kops/s. */
	const char *unit = strpbrk(name, "([");
	size_t length = unit ? strcspn(unit + 1, ")]") : 0;
	study->rate = length ? mem_printf("%.*s", (int)length, unit + 1) : mem_strdup(name);
	study->rate_scale = scale;
}

bool study_is_rate(const struct study *study) {
	return study->rate != NULL;
}

bool study_is_bandwidth(const struct study *study) {
	static const char *const words[] = {"B/s", "bytes/s", "bandwidth", "gbs", "mbs"};
	for (size_t i = 0; study->rate && i < sizeof words / sizeof *words; i++)
		if (strcasestr(study->rate, words[i]))
			return true;
	return false;
}

void study_unitless(struct study *study) {
	study->unitless = true;
}

/* Small times in a smaller unit: 120 us rather than 0.00012 s. */
static void seconds_text(double seconds, char *text, size_t size) {
	static const char *const units[] = {"s", "ms", "us", "ns"};
	size_t unit = 0;
	for (; seconds < 0.01 && seconds > 0 && unit + 1 < sizeof units / sizeof *units; unit++)
		seconds *= 1000;
	snprintf(text, size, seconds < 999.5 ? "%.3g %s" : "%.0f %s", seconds, units[unit]);
}

const char *study_rate_text(double rate, char *text, size_t size) {
	double step = pow(10, floor(log10(rate)) - 3);
	bool long_hand = rate >= 1e4 && rate < 1e7;
	snprintf(text, size, long_hand ? "%.0f" : "%.4g", long_hand ? step * round(rate / step) : rate);
	return text;
}

const char *study_value_text(const struct study *study, double value, char *text, size_t size) {
	char rate[48];
	if (study->rate)
		snprintf(text, size, "%s %.60s", study_rate_text(1 / value / study->rate_scale, rate, sizeof rate),
		         study->rate);
	else if (study->unitless)
		study_rate_text(value, text, size);
	else
		seconds_text(value, text, size);
	return text;
}

/* The limits of the machine, and figures of the worker's report about a row. */

static int count_of(const json_t *machine, const char *key) {
	int64_t count = js_int_or(machine, key, 0);
	return count > 0 && count < 1 << 20 ? (int)count : 0;
}

static int fast_cores_of(const json_t *machine) {
	const json_t *kinds = json_object_get(machine, "kinds");
	return json_array_size(kinds) > 1 ? count_of(json_array_get(kinds, 0), "cores") : 0;
}

/* Diagnoses ask for each ceiling and figure many times, so that their names and values are taken out of the JSON once.
 */
struct study_ceiling {
	const char *name, *level; /* level: NULL if there is none */
	bool gpu, disturbed;
	int64_t threads;
	double value;
};

static void ceilings_make(struct study *study) {
	study->ceiling_count = json_array_size(study->ceilings);
	struct study_ceiling *made = arena_alloc(study->arena, study->ceiling_count + 1, sizeof *made);
	js_each (one, study->ceilings) {
		bool gpu = json_object_get(one, "device");
		made[one_at] = (struct study_ceiling){.name = js_string_or(one, "name", ""),
		                                      .level = js_string_or(one, "level", NULL),
		                                      .gpu = gpu,
		                                      .disturbed = js_bool_or(one, "disturbed", false),
		                                      .threads = gpu ? 0 : js_int_or(one, "threads", 1),
		                                      .value = js_real_or(one, "value", NAN)};
	}
	study->ceiling = made;
}

void study_machine(struct study *study, const json_t *machine, const json_t *ceilings, double noise) {
	static const char *const levels[] = {NULL, "l1d", "l2", "l3"};
	const json_t *sizes = json_object_get(machine, "caches");
	json_decref(study->machine);
	json_decref(study->ceilings);
	study->machine = json_deep_copy(machine);
	study->ceilings = json_is_array(ceilings) ? json_deep_copy(ceilings) : NULL;
	study->noise = noise;
	study->host = (struct study_host){.cores = count_of(machine, "cores"),
	                                  .threads = count_of(machine, "threads"),
	                                  .numa_nodes = count_of(machine, "numa_nodes"),
	                                  .packages = count_of(machine, "packages"),
	                                  .fast_cores = fast_cores_of(machine),
	                                  .sms = count_of(json_object_get(machine, "gpu"), "sms")};
	for (size_t i = 1; i < sizeof levels / sizeof *levels; i++)
		study->host.cache[i] = js_real_or(sizes, levels[i], 0);
	ceilings_make(study);
}

const struct study_host *study_host(const struct study *study) {
	return &study->host;
}

double study_cache(const struct study *study) {
	const struct study_host *host = study_host(study);
	return host->cache[3] > 0 ? host->cache[3] * fmax(1, host->packages) : host->cache[2] * fmax(1, host->cores);
}

double study_ceiling(const struct study *study, const char *name, const char *level, double threads) {
	double best = NAN;
	int64_t team = -1;
	for (const struct study_ceiling *one = study->ceiling, *end = one + study->ceiling_count; one < end; one++) {
		if (one->gpu != (threads == 0) || strcmp(one->name, name) != 0)
			continue;
		if (!level != !one->level || (level && strcmp(level, one->level) != 0) || (double)one->threads > threads ||
		    one->threads <= team)
			continue;
		best = one->value;
		team = one->threads;
	}
	return best > 0 ? best : NAN;
}

bool study_ceiling_steady(const struct study *study, const char *name, const char *level) {
	bool steady = true;
	for (size_t i = 0; i < study->ceiling_count; i++) {
		const struct study_ceiling *one = &study->ceiling[i];
		if (strcmp(one->name, name) == 0 && strcmp(one->level ? one->level : "", level ? level : "") == 0)
			steady = steady && !one->disturbed;
	}
	return steady;
}

bool study_counts(const struct study *study, const char *name) {
	return text_is_among(name, study->counted, study->counted_count);
}

static double named(const struct study_fact *fact, const char *name) {
	for (; fact && fact->name; fact++)
		if (strcmp(fact->name, name) == 0)
			return fact->value;
	return NAN;
}

double study_work(const struct study *study, size_t row, const char *name) {
	return js_real_or(json_object_get(study->rows[row].detail, "work"), name, NAN);
}

double study_figure(const struct study *study, size_t row, const char *name) {
	return named(study->rows[row].figures, name);
}

double study_counter(const struct study *study, size_t row, const char *name) {
	return named(study->rows[row].counters, name);
}

double study_metric(const struct study *study, size_t row, const char *name) {
	return named(study->rows[row].metrics, name);
}

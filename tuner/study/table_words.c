/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The words of headers. */
#include <ctype.h>
#include <math.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

static const struct {
	const char *words;
	double scale;
} times[] = {{"s sec secs seg segs second seconds", 1},
             {"ms msec msecs millis msecond millisecond milliseconds milisecond miliseconds millseconds", 1e-3},
             {"us usec usecs micros usecond \xc2\xb5s \xce\xbcs microsecond microseconds", 1e-6},
             {"ns nsec nsecs nanos nsecond nanosecond nanoseconds", 1e-9},
             {"min minutes", 60},
             {"h hour hours", 3600},
             {"day", 86400}};
static const char *const nouns[][2] = {
	{"b byte bytes bs", "byte"},
	{"op ops operations iops", "operation"},
	{"flop flops", "flop"},
	{"el elem elems elements", "element"},
	{"cells", "cell"},
	{"updates ups lups lup", "update"},
	{"edges teps", "edge"},
	{"items", "item"},
	{"req reqs requests rps", "request"},
	{"msgs messages", "message"},
	{"points", "point"},
	{"lookups", "lookup"},
	{"acq acquires", "acquire"},
	{"keys", "key"},
	{"tasks", "task"},
	{"frames fps", "frame"},
	{"images", "image"},
	{"iterations", "iteration"},
	{"steps", "step"},
	{"pairs", "pair"},
	{"qps", "query"},
	{"tps", "transaction"},
	{"bps", "bit"},
};
/* Rates that are written without "a second". */
static const char bare_rates[] = "flops gflops mflops tflops kflops gflop kops mops gops mlups glups lups mups teps "
								 "mteps gteps qps rps tps iops gbs mbs gbps mbps fps";

static double time_unit(const char *word, size_t length) {
	char *end; /* "10^-3 s", "1e-3 s" */
	bool power = length > 4 && strncmp(word, "10^", 3) == 0;
	double factor = power || (length > 4 && strncmp(word, "1e", 2) == 0) ? strtod(word + (power ? 3 : 0), &end) : 0;
	if (factor != 0 && *end == ' ' && end < word + length)
		return (power ? pow(10, factor) : factor) * time_unit(end + 1, (size_t)(word + length - end - 1));
	length -= length > 2 && word[length - 1] == '.'; /* "secs." */
	for (size_t i = 0; i < sizeof times / sizeof *times; i++)
		if (table_among(word, length, times[i].words))
			return times[i].scale;
	return 0;
}

static const char *noun_of(const char *word) {
	for (size_t i = 0; *word && i < sizeof nouns / sizeof *nouns; i++)
		if (table_among(word, strlen(word), nouns[i][0]))
			return nouns[i][1];
	return NULL;
}

/* "kops", "gib", "edges": sets what is counted and the factor of its prefix. */
static bool amount_read(const char *word, struct table_name *name) {
	static const char prefixes[] = "kmgt";
	const char *noun = noun_of(word), *prefix = *word ? strchr(prefixes, *word) : NULL;
	double scale = 1;
	if (!noun && prefix) {
		bool binary = word[1] == 'i' && noun_of(word + 2), blank = word[1] == ' '; /* "M ops" */
		noun = noun_of(word + (binary || blank ? 2 : 1));
		for (long i = 0; i <= prefix - prefixes; i++)
			scale *= binary ? 1024 : 1000;
	}
	if (!noun && prefix && !word[1] && *word != 't') /* "2.1 M/s" are events; "30 t/s" are tokens */
		noun = "event";
	if (!noun)
		return false;
	name->scale = scale;
	snprintf(name->per, sizeof name->per, "%s", noun);
	return true;
}

/* Reads a unit: "ms", "ns/acquire", "GB/s", "gflops". */
static bool unit_read(const char *unit, struct table_name *name) {
	if (strcmp(unit, "x") == 0) { /* a factor: how many times as fast */
		name->measure = MEASURE_RATE;
		return true;
	}
	const char *slash = strchr(unit, '/');
	char left[TABLE_NAME];
	snprintf(left, sizeof left, "%.*s", slash ? (int)(slash - unit) : (int)strlen(unit), unit);
	const char *each = slash ? slash + 1 : "";
	each += strncmp(each, "cpu_", 4) == 0 ? 4 : 0; /* of a clock */
	double seconds = time_unit(left, strlen(left)), over = time_unit(each, strlen(each));
	if (seconds > 0 && (!slash || (slash[1] && over == 0))) { /* "ns/day" is a rate, of a simulation */
		name->measure = MEASURE_TIME;
		name->scale = seconds;
		snprintf(name->per, sizeof name->per, "%s", slash ? slash + 1 : "");
		return true;
	}
	bool bare = !slash && table_among(unit, strlen(unit), bare_rates);
	bool energy = slash && table_among(slash + 1, strlen(slash + 1), "w watt j joule");
	const char *last = strrchr(left, ' ');
	if (!bare && !energy && over == 0)
		return false;
	if (!amount_read(left, name)) {
		if (bare || energy || !*left || (last && amount_read(last + 1, name))) /* "mutex Mops/s" has a name before it */
			return false;
		name->scale = 1;
		snprintf(name->per, sizeof name->per, "%s", left);
	}
	if (slash && !energy)
		name->scale /= over;
	name->measure = MEASURE_RATE;
	return true;
}

/* Lower case; "_per_" and " per " become "/", and so does the underline of "gb_s". */
static void normalise(const char *header, char *out) {
	size_t length = 0;
	for (const char *at = header; *at && length + 1 < TABLE_NAME; at++) {
		bool per = (strncasecmp(at, "_per_", 5) == 0 || strncasecmp(at, " per ", 5) == 0) && at[5];
		bool bytes =
			length > 1 && strcasecmp(at, "_s") == 0 && out[length - 1] == 'b' && strchr("kmgt", out[length - 2]);
		if (strchr("*`", *at)) /* marks of Markdown around a word */
			continue;
		out[length++] = per || bytes ? '/' : (char)tolower((unsigned char)*at);
		at += per ? 4 : 0;
	}
	out[length] = '\0';
	char *speed = strstr(out, "speed");
	if (speed && speed[5] && strchr(" -_", speed[5]) && strncmp(speed + 6, "up", 2) == 0)
		memmove(speed + 5, speed + 6, strlen(speed + 6) + 1);
}

static void cut(char *text, size_t length) {
	while (length && strchr(" _-,:[(", text[length - 1]))
		length--;
	text[length] = '\0';
}

/* "time (ms)" or "time [ms]" or "time, ms": the position of the unit in the text; it is cut out. */
static char *bracket_find(char *text) {
	size_t length = strlen(text);
	char *open = (char *)table_bracket(text);
	char *comma = strrchr(text, ',');
	if (open && length && strchr(")]", text[length - 1])) {
		text[length - 1] = '\0';
		return open + (strncmp(open + 1, "in ", 3) == 0 || strncmp(open + 1, "en ", 3) == 0 ? 4 : 1);
	}
	return comma ? comma + 1 + strspn(comma + 1, " ") : NULL;
}

/* "T(p)", "T_p" and "Tp" of textbooks. */
static bool is_of_letter(const char *text, char symbol) {
	return *text == symbol && ((symbol == 't' && strcmp(text + 1, "p") == 0) ||
	                           (text[1] == '(' && isalpha((unsigned char)text[2]) && strcmp(text + 3, ")") == 0) ||
	                           (text[1] == '_' && text[2] && strchr("pn", text[2]) && !text[3]));
}

/* "T_total" and "t_comm" are times, in seconds as without a unit. */
static bool is_symbol(const char *text) {
	if (is_of_letter(text, 't'))
		return true;
	return (*text == 't' && (text[1] == '_' || text[1] == ' ') && text[2]) &&
	       (table_is_part(text + 2) ||
	        table_among(text + 2, strlen(text + 2), "total all overall wall exec run whole rest"));
}

static const char time_words[] =
	"time total runtime elapsed wall walltime wallclock clock exec execution duration real run latency t median med "
	"mean avg average best tseq tser tserial tpar tparallel seconds the of per in whole overall global zeit gesamt "
	"gesamtzeit laufzeit dauer timing timings";
static bool parts(const char *name, const char *words, bool all);

/* "runtime/ms" and "t / s" are a quantity divided by its unit (ISO 80000-1), unlike "steps/s". */
static bool quantity_read(const char *text, struct table_name *name) {
	const char *slash = strrchr(text, '/');
	char left[TABLE_NAME];
	double scale =
		slash ? time_unit(slash + 1 + strspn(slash + 1, " "), strlen(slash + 1 + strspn(slash + 1, " "))) : 0;
	snprintf(left, sizeof left, "%.*s", slash ? (int)(slash - text) : 0, text);
	cut(left, strlen(left));
	if (scale == 0 || !*left || !parts(left, time_words, true) || strchr(left, '/'))
		return false;
	name->measure = MEASURE_TIME;
	name->scale = scale;
	snprintf(name->base, sizeof name->base, "%s", left);
	return true;
}

/* "IOPS (K)" and "GFLOPS (higher is better)". */
static bool bare_rate_read(const char *text, const char *behind, struct table_name *name) {
	char rate[TABLE_NAME];
	snprintf(rate, sizeof rate, "%.*s", (int)strcspn(text, " (["), text);
	if (!behind || !strpbrk(text, "([") || !unit_read(rate, name))
		return false;
	if (name->measure == MEASURE_TIME) { /* "S(p)" is no number of seconds */
		name->measure = MEASURE_NONE;
		return false;
	}
	name->scale *= strcmp(behind, "k") == 0 ? 1e3 : strcmp(behind, "m") == 0 ? 1e6 : 1;
	name->base[0] = '\0';
	return true;
}

/* "Time (ms) – CPU" is "Time CPU (ms)". */
static void behind_join(char text[TABLE_NAME]) {
	char copy[TABLE_NAME], unit[TABLE_NAME], *open = (char *)table_bracket(text),
											 *close = open ? strpbrk(open, ")]") : NULL;
	const char *rest = close ? close + 1 : "";
	rest += strspn(rest, " -:,");
	rest += strncmp(rest, "\xe2\x80\x93", 3) == 0 || strncmp(rest, "\xe2\x80\x94", 3) == 0 ? 3 : 0;
	rest += strspn(rest, " ");
	snprintf(unit, sizeof unit, "%.*s", close ? (int)(close - open - 1) : 0, open ? open + 1 : "");
	if (open == text || !*rest || strpbrk(rest, "([") || time_unit(unit, strlen(unit)) == 0)
		return;
	snprintf(copy, sizeof copy, "%.*s%s (%s)", (int)(open - text), text, rest, unit);
	snprintf(text, TABLE_NAME, "%s", copy);
}

/* "wall time (s) (average)" is "wall time average (s)", and "shared (OpenMP) time (s)" has its unit at the end. */
static void brackets_join(char text[TABLE_NAME]) {
	char copy[TABLE_NAME], *open = (char *)table_bracket(text), *second = open ? strpbrk(open + 1, "([") : NULL;
	size_t length = strlen(text);
	if (!second || second - open < 3 || !strchr(")]", text[length - 1]))
		return;
	text[length - 1] = '\0';
	if (time_unit(second + 1, strlen(second + 1)) > 0) {
		size_t own = strcspn(open, ")]");
		snprintf(copy, sizeof copy, "%.*s%.*s%.*s(%s)", (int)(open - text), text, (int)own - 1, open + 1,
		         (int)(second - open - (long)own - 1), open + own + 1, second + 1);
	} else
		snprintf(copy, sizeof copy, "%.*s%s %.*s", (int)(open - text), text, second + 1, (int)(second - open - 1),
		         open);
	snprintf(text, TABLE_NAME, "%s", copy);
}

/* "speedup_simple" and "openmp speedup" are the speed-ups of versions. */
static bool speedup_read(const char *text, struct table_name *name) {
	size_t length = strlen(text), own = strlen("speedup");
	const char *open = table_bracket(text);
	if (open && open > text && strcmp(open + 1, "speedup)") == 0) { /* "doacross (speedup)" */
		name->measure = MEASURE_SPEEDUP;
		snprintf(name->base, sizeof name->base, "%.*s", (int)(open - text), text);
		cut(name->base, strlen(name->base));
		return true;
	}
	bool first = strncmp(text, "speedup", own) == 0 && text[own] && strchr(" _-", text[own]);
	bool last =
		length > own + 1 && strcmp(text + length - own, "speedup") == 0 && strchr(" _-", text[length - own - 1]);
	const char *rest = first ? text + own + 1 : text, *end = first && *rest == '(' ? strchr(rest, ')') : NULL;
	char version[TABLE_NAME];
	if (end && !end[1] && end > rest + 3 && !strpbrk(rest, "0123456789/=")) { /* "Speedup (dynamic)" */
		snprintf(version, sizeof version, "%.*s", (int)(end - rest - 1), rest + 1);
		rest = version;
	}
	if ((!first && !last) || strpbrk(rest, "([/") ||
	    table_has_word(text,
	                   "vs over to relative against factor ratio total max mean average of from theoretical ideal"))
		return false;
	name->measure = MEASURE_SPEEDUP;
	snprintf(name->base, sizeof name->base, "%.*s", (int)(first ? length : length - own - 1), rest);
	return true;
}

/* "MB/s read" and "c/s real". */
static bool rate_begins(const char *text, struct table_name *name) {
	size_t length = strcspn(text, " ");
	char rate[TABLE_NAME];
	snprintf(rate, sizeof rate, "%.*s", (int)length, text);
	if (!text[length] || !strchr(rate, '/') || !unit_read(rate, name))
		return false;
	if (name->measure == MEASURE_RATE)
		snprintf(name->base, sizeof name->base, "%s", text + length + 1);
	else
		name->measure = MEASURE_NONE;
	return name->measure == MEASURE_RATE;
}

/* "ms_step" and "us op" are times of one, "ms_gpu" is a time of that. */
static bool time_begins(const char *text, struct table_name *name) {
	char plural[TABLE_NAME + 1];
	double scale = time_unit(text, 2);
	if (scale <= 0 || !text[2] || !strchr("_ ", text[2]) || !isalpha((unsigned char)text[3]))
		return false;
	snprintf(plural, sizeof plural, "%ss", text + 3);
	bool one = noun_of(text + 3) || noun_of(plural);
	name->measure = MEASURE_TIME;
	name->scale = scale;
	snprintf(one ? name->per : name->base, TABLE_NAME, "%s", text + 3);
	if (one)
		name->base[0] = '\0';
	return true;
}

/* "tok_s" counts tokens a second, unlike "step_s". */
static bool is_amount(const char *base) {
	const char *last = base;
	for (const char *at = base; *at; at++)
		last = strchr("_ -", *at) ? at + 1 : last;
	return table_among(last, strlen(last),
	                   "tok token tokens ops req reqs requests img imgs images samples msgs messages edges flops flop");
}

static bool name_unit_read(const char *header, struct table_name *name) {
	char text[TABLE_NAME], *unit;
	*name = (struct table_name){.scale = 1};
	normalise(header, text);
	behind_join(text);
	brackets_join(text);
	snprintf(name->base, sizeof name->base, "%s", text);
	if (quantity_read(text, name) || speedup_read(text, name))
		return true;
	if (strcmp(header, "H") != 0 && unit_read(text, name)) { /* rather a height, or heads, than hours */
		name->base[0] = '\0';
		return true;
	}
	unit = bracket_find(text);
	if (!unit) {
		char *last = NULL;
		for (char *at = text; *at; at++)
			last = strchr("_ -", *at) ? at : last;
		unit = last && last > text ? last + 1 : NULL;
	}
	char *comma = unit ? strchr(unit, ',') : NULL; /* "(ms, lower is better)" */
	if (comma && unit[-1] != ' ' && unit > text && strchr("([", unit[-1]) && comma > unit)
		*comma = '\0';
	if (!unit || !unit_read(unit, name))
		return bare_rate_read(text, unit, name) || rate_begins(text, name) || time_begins(text, name);
	size_t length = (size_t)(unit - text);
	snprintf(name->base, sizeof name->base, "%.*s", (int)length, text);
	cut(name->base, strlen(name->base));
	if (strcmp(unit, "s") == 0 && unit > text && strchr("_ ", unit[-1]) && is_amount(name->base)) {
		name->measure = MEASURE_RATE;
		snprintf(name->per, sizeof name->per, "%s", name->base);
		name->base[0] = '\0';
		return true;
	}
	bool axis = strcmp(unit, "x") == 0 && strchr("_ ", unit[-1]) && !table_is_figure(name->base); /* "grid_x" */
	if (axis || (*name->base && name->base[strlen(name->base) - 1] == '=')) { /* "NR = NS" are two names */
		*name = (struct table_name){.scale = 1};
		snprintf(name->base, sizeof name->base, "%s", text);
		return false;
	}
	return true;
}

/* "Throughput" without a unit is a rate all the same, and that of a version in "Throughput - TF32". */
static void throughput_read(struct table_name *name) {
	static const char
		words[] = "throughput bandwidth performance",
		beside[] =
			"throughput bandwidth performance ops op requests queries average avg mean median total overall aggregate "
			"effective achieved measured";
	size_t first = strcspn(name->base, " _");
	const char *version = name->base + first + strspn(name->base + first, " -:_");
	bool named = table_among(name->base, first, words) && strncmp(name->base + first, " - ", 3) == 0;
	if (!named && (!parts(name->base, words, false) || !parts(name->base, beside, true)))
		return;
	name->measure = MEASURE_RATE;
	snprintf(name->per, sizeof name->per, "unit");
	memmove(name->base, version, named ? strlen(version) + 1 : 0);
}

void table_name_read(const char *header, struct table_name *name) {
	bool known = name_unit_read(header, name);
	if (!known && is_symbol(name->base))
		name->measure = MEASURE_TIME;
	else if (!known)
		throughput_read(name);
	if (is_of_letter(name->base, 't'))
		snprintf(name->base, sizeof name->base, "t");
}

/* Calls for each part of a name that blanks, underlines and the like separate; true if `is` holds for all, or any. */
static bool parts(const char *name, const char *words, bool all) {
	bool some = false;
	for (const char *at = name; *at;) {
		size_t length = strcspn(at, "_ -./:,");
		bool is = length == 0 || table_among(at, length, words);
		some = some || (length && is);
		if (all && !is)
			return false;
		at += length + (at[length] != '\0');
	}
	return some;
}

int table_time_rank(const struct table_name *name) {
	static const char *const ranks[] = {
		"time zeit timing timings",
		"total global gesamt gesamtzeit",
		"runtime elapsed wall walltime wallclock clock exec execution duration real run latency t laufzeit dauer",
		"median med",
		"mean avg average",
		"best"};
	bool timed =
		name->measure == MEASURE_TIME ||
		parts(name->base,
	          "time runtime elapsed walltime wallclock seconds latency duration zeit laufzeit dauer gesamtzeit timing "
	          "timings",
	          false);
	if (!timed || strchr(name->base, '/'))
		return -1;
	if (!*name->base)
		return 0;
	if (!parts(name->base, time_words, true))
		return -1;
	for (int i = 0; i < (int)(sizeof ranks / sizeof *ranks); i++)
		if (parts(name->base, ranks[i], true))
			return i;
	return (int)(sizeof ranks / sizeof *ranks);
}

bool table_is_measurement(const char *header) {
	struct table_name name;
	table_name_read(header, &name);
	return name.measure != MEASURE_NONE || table_time_rank(&name) >= 0;
}

static bool is_of_std(const char *base) { /* "std_sort" and "std map" are of the library */
	return strncmp(base, "std", 3) == 0 && base[3] && strchr("_ -", base[3]) && !parts(base + 4, time_words, true) &&
	       !parts(base + 4, "dev deviation error err", false);
}

bool table_is_statistic(const struct table_name *name) {
	const char *slash = strchr(name->base, '/'); /* "MFLOPS per thread" */
	return (name->measure == MEASURE_RATE && (strstr(name->base, "per-thread") || strstr(name->base, "per-core"))) ||
	       (name->measure == MEASURE_RATE && slash &&
	        table_among(slash + 1, strlen(slash + 1), "thread core process rank worker cpu gpu node")) ||
	       strstr(name->base, "95%") || strstr(name->base, "99%") ||
	       (!strstr(name->base, "std::") && !is_of_std(name->base) &&
	        parts(name->base,
	              "min max minimum virtual std stddev stdev sd sem sigma var variance cv ci low "
	              "high lower upper q1 q3 p5 p25 p50 p75 p90 p95 p99 p999 ideal theoretical expected predicted err "
	              "error deviation samples runs repeats repetitions reps trials",
	              false));
}

bool table_is_counter(const char *header) {
	return strncasecmp(header, "gpu_", 4) == 0 || strncasecmp(header, "papi_", 5) == 0 ||
	       strncasecmp(header, "perf_", 5) == 0 ||
	       parts(header,
	             "misses miss hits hit instructions instr cycles branches loads stores wavefronts faults switches hitm "
	             "references refs accesses transactions sectors sweeps_counted migrations stalls evictions",
	             false);
}

bool table_is_part(const char *header) {
	return parts(
		header,
		"compute computation comp calc calculation communication halo exchange sending receiving comm comms copy "
		"copies transfer transfers upload download h2d d2h htod dtoh io "
		"input output read reading write writing setup init initialisation initialization sync synchronisation barrier "
		"wait waiting phase reduce update memcpy malloc alloc allocation generate load store preprocessing "
		"postprocessing analysis cleaning clean parsing factorize factorise factorization solve",
		false);
}

const char table_middle_words[] = "mean avg average median med";
const char table_direction_words[] = "h2d d2h d2d htod dtoh dtod upload download read write send recv receive";

bool table_is_figure(const char *header) {
	char lower[TABLE_NAME];
	normalise(header, lower);
	return is_of_letter(lower, 's') || is_of_letter(lower, 'e') ||
	       parts(lower,
	             "speedup efficiency occupancy utilization utilisation ipc cpi energy power watts joules percent share "
	             "rate ratio rank note notes comment remark memory rss peak footprint registers bandwidth throughput "
	             "gain overhead sm achieved imbalance scaling error accuracy inertia residual verdict winner fastest "
	             "best "
	             "unit fraction deviation change delta usage allocs rel relative normalized normalised perf errors "
	             "failures correct valid verified solutions visited expanded date timestamp datetime fecha fechahora "
	             "flops gflops mflops "
	             "checksum hash "
	             "\xce\x94 \xce\xb4 difference diff vs",
	             false);
}

bool table_is_missing(const char *cell) {
	return !*cell || strchr("<>", *cell) || /* a bound: "< 1 s" */
	       (isalpha((unsigned char)*cell) &&
	        (strcasestr(cell, "timed out") || strcasestr(cell, "out of memory") || strcasestr(cell, "did not ") ||
	         strcasestr(cell, " error: ") || strncasecmp(cell, "oom ", 4) == 0)) ||
	       table_among(
			   cell, strlen(cell),
			   "- -- \xe2\x80\x94 \xe2\x80\x93 -1 -1.0 -1.000000 n/a na nan null none inf timeout failed fail failure "
			   "error crash crashed oom "
			   "dnf x ? wrong incorrect invalid");
}

bool table_is_dash(const char *cell) {
	return table_among(cell, strlen(cell), "- -- \xe2\x80\x94 \xe2\x80\x93 n/a na");
}

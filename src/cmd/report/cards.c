/* SPDX-License-Identifier: GPL-3.0-or-later */
/* The answer first: a card for each result of tune, with its verdict, the interval of its speedup, how it was decided,
 * and the command to copy. What was only measured, or did not finish, has no card. */
#include <ctype.h>
#include <math.h>

#include "base/json/js.h"
#include "src/cmd/report/report_impl.h"
#include "src/show/results.h"

/* The threads of a recommendation on the packages, cores and hardware threads of this machine, as lstopo draws them. */
enum { CORES_MAX = 160, CORE_CPUS_MAX = 8, CPUS_MAX = CORES_MAX * CORE_CPUS_MAX, TEAM_MAX = 4096 };

struct pinning {
	struct html *html;
	const struct topo *topo;
	const struct topo_binding *team;
	int threads, used;
	int on[CPUS_MAX]; /* the number of threads that may run on each CPU */
};

static struct topo_binding *all_of(const struct topo *topo, enum topo_level level, const char *places) {
	struct err none = {0};
	return topo_binding_new(topo, topo_count(topo, level), places, "close", &none);
}

static void team_place(struct pinning *pinning) {
	mem_auto int *cpus = mem_alloc(CPUS_MAX, sizeof *cpus);
	for (int thread = 0; thread < pinning->threads; thread++) {
		size_t count = topo_binding_cpus(pinning->team, thread, cpus, CPUS_MAX);
		for (size_t i = 0; i < count && i < CPUS_MAX; i++)
			if (cpus[i] < CPUS_MAX)
				pinning->used += pinning->on[cpus[i]]++ == 0;
	}
}

static void cpu_draw(const struct pinning *pinning, int cpu) {
	int threads = cpu < CPUS_MAX ? pinning->on[cpu] : 0;
	char title[80];
	snprintf(title, sizeof title, threads ? "CPU %d: %d thread%s may run here" : "CPU %d: free", cpu, threads,
	         threads == 1 ? "" : "s");
	html_put(pinning->html, "<span class=\"thread%s\" title=\"%s\"></span>", threads ? "" : " idle", title);
}

/* Draws the cores whose first CPU is in the package. */
static void package_draw(const struct pinning *pinning, const struct topo_binding *packages, int package,
                         const struct topo_binding *cores) {
	bool inside[CPUS_MAX] = {false};
	int *cpus = mem_alloc(CPUS_MAX, sizeof *cpus);
	size_t count = topo_binding_cpus(packages, package, cpus, CPUS_MAX);
	for (size_t i = 0; i < count && i < CPUS_MAX; i++)
		if (cpus[i] < CPUS_MAX)
			inside[cpus[i]] = true;
	html_put(pinning->html, "<div class=\"package\"><span class=\"cores\">");
	for (int core = 0; core < topo_count(pinning->topo, TOPO_CORE); core++) {
		count = topo_binding_cpus(cores, core, cpus, CORE_CPUS_MAX);
		if (count == 0 || count > CORE_CPUS_MAX || cpus[0] >= CPUS_MAX || !inside[cpus[0]])
			continue;
		html_put(pinning->html, "<span class=\"core\">");
		for (size_t i = 0; i < count; i++)
			cpu_draw(pinning, cpus[i]);
		html_put(pinning->html, "</span>");
	}
	html_put(pinning->html, "</span></div>");
	free(cpus);
}

static void machine_draw(const struct pinning *pinning) {
	struct topo_binding *packages = all_of(pinning->topo, TOPO_PACKAGE, "sockets"),
						*cores = all_of(pinning->topo, TOPO_CORE, "cores");
	html_put(pinning->html, "<div class=\"topology pinning\">");
	for (int i = 0; packages && cores && i < topo_count(pinning->topo, TOPO_PACKAGE); i++)
		package_draw(pinning, packages, i, cores);
	html_put(pinning->html, "</div>");
	topo_binding_free(packages);
	topo_binding_free(cores);
}

static void describe(const struct pinning *pinning, const char *bind) {
	bool one = pinning->threads == 1;
	html_put(pinning->html, "<p class=\"note\">%d thread%s", pinning->threads, one ? "" : "s");
	if (strcmp(bind, "false") == 0)
		html_put(pinning->html, ", not bound: the system places %s.</p>", one ? "it" : "them");
	else
		html_put(pinning->html, " on %d of %d hardware threads.</p>", pinning->used,
		         topo_count(pinning->topo, TOPO_PU));
}

/* Shows where the threads of the section's setting run. */
static void report_pinning(struct report *report, const struct report_section *section) {
	const json_t *environment = json_object_get(section->entry, "environment");
	const char *bind = js_string_or(environment, "OMP_PROC_BIND", "false");
	long threads = strtol(js_string_or(environment, "OMP_NUM_THREADS", "0"), NULL, 10);
	struct err none = {0};
	struct topo *topo = report->is_foreign || report->from ? NULL : app_topo(report->app, &none);
	if (!topo || threads < 1 || threads > TEAM_MAX || topo_count(topo, TOPO_CORE) > CORES_MAX)
		return;
	struct topo_binding *team =
		topo_binding_new(topo, (int)threads, js_string_or(environment, "OMP_PLACES", "threads"), bind, &none);
	if (!team)
		return;
	mem_auto struct pinning *pinning = mem_alloc(1, sizeof *pinning);
	*pinning = (struct pinning){.html = report->html, .topo = topo, .team = team, .threads = (int)threads};
	team_place(pinning);
	if (strcmp(bind, "false") != 0)
		machine_draw(pinning);
	describe(pinning, bind);
	topo_binding_free(team);
}

/* The drawing, in units of its view box. */
enum { WIDTH = 240, HEIGHT = 34, LEFT = 12, RIGHT = 228, MIDDLE = 12, BELOW = 30 };

static bool has_card(const struct report_section *section) {
	return section->tune && json_is_object(json_object_get(section->tune, "best"));
}

/* A logarithmic scale that holds the interval and 1, with some room. */
struct ruler {
	double low, high;
};

static const char *place(struct report *report, const struct ruler *ruler, double ratio) {
	double at = (log(ratio) - log(ruler->low)) / (log(ruler->high) - log(ruler->low));
	return arena_printf(report->arena, "%.1f", LEFT + (RIGHT - LEFT) * fmin(1, fmax(0, at)));
}

static void line_put(struct report *report, const char *class, const char *x1, const char *x2, int y1, int y2) {
	html_put(report->html, "<line class=\"%s\" x1=\"%s\" x2=\"%s\" y1=\"%d\" y2=\"%d\"></line>", class, x1, x2, y1, y2);
}

static void text_put(struct report *report, const char *x, double ratio) {
	html_put(report->html, "<text class=\"tick\" x=\"%s\" y=\"%d\" text-anchor=\"middle\">%.3gx</text>", x, BELOW,
	         ratio);
}

/* The interval as a bar, the estimate as a dot, and a line at 1, where nothing is gained. */
void report_interval(struct report *report, double low, double ratio, double high) {
	struct ruler ruler = {fmin(1, low) / 1.1, fmax(1, high) * 1.1};
	const char *at = place(report, &ruler, ratio), *one = place(report, &ruler, 1);
	html_put(report->html,
	         "<svg class=\"interval\" viewBox=\"0 0 %d %d\" role=\"img\"><title>speedup and its "
	         "interval</title><desc>%.3gx, "
	         "between %.3gx and %.3gx, on a logarithmic scale with a line at 1x</desc>",
	         WIDTH, HEIGHT, ratio, low, high);
	html_put(report->html, "<line class=\"axis\" x1=\"%d\" x2=\"%d\" y1=\"%d\" y2=\"%d\"></line>", LEFT, RIGHT, MIDDLE,
	         MIDDLE);
	line_put(report, "one", one, one, MIDDLE - 8, MIDDLE + 8);
	line_put(report, "range", place(report, &ruler, low), place(report, &ruler, high), MIDDLE, MIDDLE);
	html_put(report->html, "<circle class=\"dot\" cx=\"%s\" cy=\"%d\" r=\"4.5\"></circle>", at, MIDDLE);
	text_put(report, one, 1);
	if (fabs(strtod(at, NULL) - strtod(one, NULL)) > 40)
		text_put(report, at, ratio);
	html_put(report->html, "</svg>");
}

static void speedup_put(struct report *report, const json_t *tune) {
	struct speedup gain = speedup_of(tune);
	bool same = gain.low == 1 && gain.high == 1;
	if (gain.ratio > 0 && gain.low > 0 && gain.high >= gain.low && isfinite(gain.high) && !same &&
	    !speedup_is_vague(gain))
		report_interval(report, gain.low, gain.ratio, gain.high);
}

/* "21 interleaved pairs; tried 14 of 138; noise floor 0.9 %" */
static void decided_put(struct report *report, const json_t *tune) {
	long long pairs = (long long)js_int_or(tune, "pairs", 0), tried = (long long)js_int_or(tune, "evaluations", 0);
	long long valid = (long long)js_int_or(json_object_get(tune, "space"), "valid", 0);
	double floor = js_real_or(tune, "noise_floor", NAN);
	html_put(report->html, "<p class=\"note\">");
	if (pairs)
		html_put(report->html, "%s in %lld interleaved pairs with the baseline",
		         verdict_is_decided(tune) ? "Decided" : "Compared", pairs);
	else if (js_real_or(tune, "closest", 0) > 0)
		html_put(report->html, "Decided in the search: the closest of the others took %.3g times as long",
		         js_real_or(tune, "closest", 0));
	else
		html_put(report->html, "Not compared with the baseline");
	if (tried && valid)
		html_put(report->html, "; tried %lld of %lld", tried, valid);
	if (100 * floor > RESULTS_FLOOR_MOST)
		html_put(report->html, "; noise floor above %d %%", RESULTS_FLOOR_MOST);
	else if (isfinite(floor))
		html_put(report->html, floor < 0.1 ? "; noise floor %.2g %%" : "; noise floor %.0f %%", 100 * floor);
	html_put(report->html, ".</p>");
}

/* The ceiling that is closest limits most. Times of a busy machine may be inconsistent, so more than 100 % is left
 * out. */
static void roof_put(struct report *report, const struct report_section *section) {
	const json_t *winner = json_object_get(json_object_get(section->result, "roofline"), "winner"), *closest = NULL;
	double share = 0;
	js_each (roof, json_object_get(winner, "roofs")) {
		double one = js_real_or(roof, "share", NAN);
		if (one > share && one <= 1) {
			share = one;
			closest = roof;
		}
	}
	if (!closest)
		return;
	const char *level = js_string_or(closest, "level", NULL);
	html_put(report->html, "<p class=\"note\">Reaches %.2g %% of its closest measured ceiling: %s%s%s, %.3g %s.</p>",
	         100 * share, js_string_or(closest, "name", "?"), level ? " " : "", level ? level : "",
	         js_real_or(closest, "value", NAN), js_string_or(closest, "unit", ""));
}

/* The first experiment that explain suggests, with the factor that its diagnosis says is at stake. */
static void next_put(struct report *report, const struct report_section *section) {
	js_each (finding, json_object_get(section->result, "diagnoses")) {
		const char *next = js_string_or(finding, "next", NULL);
		double gain = js_real_or(finding, "strength", 1);
		if (!next)
			continue;
		html_put(report->html, "<p class=\"note\">Next to try");
		if (gain > 1.005)
			html_put(report->html, " (up to %.2gx)", gain);
		html_put(report->html, ":</p>");
		report_command(report, next);
		return;
	}
}

static void load_put(struct report *report, const json_t *tune) {
	mem_auto char *busy = results_load(tune);
	if (busy)
		html_put(report->html, "<p class=\"warning\">%c%s. <code>sweetspot profile verify</code> checks it later.</p>",
		         toupper((unsigned char)*busy), busy + 1);
}

/* A program's line, the command that runs a kernel, or the configuration of a source. */
static void command_put(struct report *report, const struct report_section *section) {
	const char *line = js_string_or(json_object_get(section->tune, "program"), "line", NULL);
	const char *command = line ? line : report_again(report, section);
	mem_auto char *config = results_config(json_object_get(json_object_get(section->tune, "best"), "config"), NULL);
	report_command(report, command ? command : config);
}

/* How the winner was checked, and what it does otherwise than the baseline. */
static void checked_put(struct report *report, const json_t *tune) {
	mem_auto char *checked = verdict_checked(tune);
	if (checked)
		html_put(report->html, "<p>Checked: %s.</p>", checked);
	if (verdict_of(tune) != VERDICT_NOT_SAME)
		return;
	js_each (clause, json_object_get(json_object_get(tune, "evidence"), "differs"))
		html_put(report->html, "<p class=\"warning\">Not the same work: %s.</p>", json_string_value(clause));
}

static void card_put(struct report *report, const struct report_section *section) {
	const json_t *tune = section->tune;
	mem_auto char *verdict = results_verdict(tune);
	bool good = verdict_of(tune) == VERDICT_FASTER;
	html_put(report->html, "<article class=\"card\"><h3><a href=\"#%s\">%s</a>", section->anchor, section->kernel);
	if (!json_is_object(json_object_get(tune, "program"))) /* whose command line follows */
		html_put(report->html, "<small> %s</small>", section->problem_text);
	html_put(report->html, "</h3><p class=\"verdict%s\">%s</p>", good ? " high" : "", verdict);
	checked_put(report, tune);
	speedup_put(report, tune);
	command_put(report, section);
	report_pinning(report, section);
	decided_put(report, tune);
	roof_put(report, section);
	load_put(report, tune);
	next_put(report, section);
	html_put(report->html, "</article>");
}

void report_cards(struct report *report) {
	size_t cards = 0;
	for (size_t i = 0; i < report->section_count; i++)
		cards += has_card(&report->sections[i]);
	if (!cards)
		return;
	html_put(report->html, "<section id=\"results\"><h2>Results</h2><div class=\"cards\">");
	for (size_t i = 0; i < report->section_count; i++)
		if (has_card(&report->sections[i]))
			card_put(report, &report->sections[i]);
	html_put(report->html, "</div></section>");
}

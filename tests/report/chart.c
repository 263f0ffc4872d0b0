/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts as a page needs them: well-formed, alone, the same each time, and hostile texts stay texts. */
#include <config.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "src/base/sys.h"
#include "src/base/tree.h"
#include "tests/report/chart_check.h"
#include "tests/tap.h"

static const char *const hostile[] = {
	"it's",
	"''",
	"'",
	"\"",
	"\\",
	"trailing \\",
	"a\nb",
	"END",
	"\nEND\nsystem('touch owned')\n",
	"$T << END",
	"`touch owned`",
	"'.system('touch owned').'",
	"\".system(\"touch owned\").\"",
	"@x ^{2} _a {/Bold b} &{c} ~d{e}",
	"%s %d %n %",
	"%%y",
	"<script>alert(1)</script>",
	"</title><script>",
	"</svg><img src=x onerror=alert(1)>",
	"&lt;b&gt; &amp; &#60;",
	"]]>",
	"<!--",
	"\x01\x02\x1b[31m\x7f",
	"\xff\xfe bad",
	"\xc3",
	"\xef\xbf\xbf",
	"\xed\xa0\x80",
	"\xe2\x80\xae turned",
	"! touch owned",
	"#comment",
	"; system 'touch owned'",
	"x\r\ny",
	"\t",
	"",
	" ",
	"\xe6\xbc\xa2\xe5\xad\x97 \xf0\x9f\x98\x80 \xc3\xa9",
	"javascript:alert(1)",
	"t(1)",
	"$T[1]",
	"{{7*7}}",
	"\xc2\x85\xe2\x80\xa8",
};
enum { HOSTILE = sizeof(hostile) / sizeof(*hostile) };

static const struct chart_point line[] = {{1, 2, 1.5, 2.5}, {2, 1, NAN, NAN}, {4, 0.5, 0.4, 0.7}};
static const double cells[] = {1, 2, 3, NAN};

struct sample {
	struct chart charts[2];
	struct chart_series series[2];
	struct chart_heat heat;
	const char *names[3];
	char ids[2][32];
};

/* Two charts with the text wherever a text may be. */
static void sample_fill(struct sample *s, const char *text, size_t number) {
	*s = (struct sample){.series = {{text, CHART_LINE, line, 3}, {text, CHART_BARS, line, 3}},
	                     .names = {text, text, text}};
	s->heat = (struct chart_heat){s->names, s->names, 2, 2, cells, text, false};
	for (int i = 0; i < 2; i++) {
		snprintf(s->ids[i], sizeof(s->ids[i]), "c%zu-%d", number, i);
		s->charts[i] =
			(struct chart){.id = s->ids[i], .title = text, .x_label = text, .y_label = text, .description = text};
	}
	s->charts[0].series = s->series;
	s->charts[0].series_count = 2;
	s->charts[0].x_names = s->names;
	s->charts[0].x_name_count = 3;
	s->charts[1].heat = &s->heat;
}

static char *element(const char *svg, const char *name) {
	char mark[16];
	snprintf(mark, sizeof(mark), "<%s id", name);
	const char *at = strstr(svg, mark);
	at = at ? strchr(at, '>') : NULL;
	return at ? mem_printf("%.*s", (int)strcspn(at + 1, "<"), at + 1) : NULL;
}

static char *markup(const char *text) {
	char *out, *tame = text_tame(text);
	size_t size;
	FILE *file = open_memstream(&out, &size);
	text_markup(file, tame);
	fclose(file);
	free(tame);
	return out;
}

static void check_one(const struct chart *chart, const char *svg, const char *text) {
	int ids;
	const char *fault = svg_fault(svg, &ids);
	char *title = element(svg, "title"), *desc = element(svg, "desc"), *want = markup(text),
		 *id = mem_printf("id=\"%s-title\"", chart->id);
	char *tame = text_tame(text);
	ok(!fault && ids == 2 && strstr(svg, id) && strncmp(svg, "<svg ", 5) == 0 && strstr(svg, "role=\"img\""),
	   "%s: well-formed, with two ids (%s): %s", chart->id, fault ? fault : "no fault", tame);
	ok(title && desc && strcmp(title, want) == 0 && strcmp(desc, want) == 0,
	   "%s: title and description are the text, escaped once", chart->id);
	free(title);
	free(desc);
	free(want);
	free(id);
	free(tame);
}

static void test_hostile(void) {
	struct sample *samples = mem_alloc(HOSTILE, sizeof(*samples));
	struct chart *charts = mem_alloc(HOSTILE * 2, sizeof(*charts));
	char **svg = mem_alloc(HOSTILE * 2, sizeof(*svg));
	struct err err = {0};
	for (size_t i = 0; i < HOSTILE; i++) {
		sample_fill(&samples[i], hostile[i], i);
		charts[2 * i] = samples[i].charts[0];
		charts[2 * i + 1] = samples[i].charts[1];
	}
	ok(chart_draw_svg(charts, HOSTILE * 2, svg, &err) == 0, "charts of hostile texts are drawn %s", err.what);
	for (size_t i = 0; i < HOSTILE * 2 && svg[i]; i++)
		check_one(&charts[i], svg[i], hostile[i / 2]);
	ok(access("owned", F_OK) != 0, "none of them was a command");
	ok(text_times(svg[0], "it's") == 2 + 3 + 2, "names, labels and title stand in the picture");
	ok(chart_draw_png(charts, HOSTILE * 2, "png", &err) == 0 && access("owned", F_OK) != 0, "nor when drawn as PNG %s",
	   err.what);
	for (size_t i = 0; i < HOSTILE * 2; i++)
		free(svg[i]);
	free(svg);
	free(charts);
	free(samples);
}

static void test_long(void) {
	struct sample sample;
	struct err err;
	char *svg[2], *text = mem_alloc(10241, 1);
	for (int i = 0; i < 10240; i++)
		text[i] = "long 'text' <& "[i % 15];
	sample_fill(&sample, text, 0);
	ok(chart_draw_svg(sample.charts, 2, svg, &err) == 0, "texts of 10 kB");
	for (int i = 0; i < 2 && svg[i]; i++) {
		int ids;
		ok(!svg_fault(svg[i], &ids) && strlen(svg[i]) < 40000, "are cut");
		ok(text_overhang(svg[i]) <= 1, "to what the canvas holds (%g)", text_overhang(svg[i]));
		free(svg[i]);
	}
	free(text);
}

static void test_same(void) {
	struct sample sample;
	char *once[2], *twice[2], *alone[1];
	sample_fill(&sample, "text", 7);
	if (!ok(chart_draw_svg(sample.charts, 2, once, NULL) == 0 && chart_draw_svg(sample.charts, 2, twice, NULL) == 0 &&
	            chart_draw_svg(sample.charts + 1, 1, alone, NULL) == 0,
	        "drawn thrice"))
		return;
	ok(strcmp(once[0], twice[0]) == 0 && strcmp(once[1], twice[1]) == 0, "the same bytes each time");
	ok(strcmp(once[1], alone[0]) == 0, "whatever is drawn before it");
	for (int i = 0; i < 2; i++) {
		free(once[i]);
		free(twice[i]);
	}
	free(alone[0]);
}

static void test_many(void) {
	enum { MANY = 230 };
	struct chart charts[MANY];
	char ids[MANY][24], *svg[MANY];
	bool right = true;
	for (int i = 0; i < MANY; i++) {
		snprintf(ids[i], sizeof(ids[i]), "many-%d", i);
		charts[i] = (struct chart){.id = ids[i], .title = ids[i]};
	}
	ok(chart_draw_svg(charts, MANY, svg, NULL) == 0, "more charts than go into one process");
	for (int i = 0; i < MANY && svg[i]; i++) {
		right &= text_times(svg[i], ids[i]) == 1;
		free(svg[i]);
	}
	ok(right, "each in its place");
	ok(chart_draw_svg(charts, 0, svg, NULL) == 0, "and none at all");
}

static void test_ids(void) {
	static const char *const bad[] = {"", "A", "a b", "a'b", "a\nb", "../x", "a.b", "\xc3\xa9", NULL};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct chart chart = {.id = bad[i], .title = "x"};
		char *svg[1];
		struct err err = {0};
		ok(chart_draw_svg(&chart, 1, svg, &err) == -1 && err.code == ERR_USAGE && !svg[0] &&
		       chart_draw_png(&chart, 1, "png", &err) == -1,
		   "an id that is none is refused: %zu", i);
	}
}

/* Everything that a picture refers to is in chart_css. */
static void test_css(void) {
	bool found = true;
	for (int role = 1; role < COLOUR_ROLES; role += role == COLOUR_ABSENT ? COLOUR_SERIES - COLOUR_ABSENT : 1)
		for (const char *kind = "sf"; *kind; kind++) {
			char rule[64];
			snprintf(rule, sizeof(rule), ".chart .%c%d{%s:var(--c%d)}", *kind, role, *kind == 's' ? "stroke" : "fill",
			         role);
			found &= strstr(chart_css, rule) != NULL;
		}
	ok(found, "every class has its colour");
	ok(strstr(chart_css, "prefers-color-scheme:dark") && strstr(chart_css, "screen") && !strstr(chart_css, "url(") &&
	       !strstr(chart_css, "</"),
	   "for light and dark, and paper stays light");
}

static bool is_png(const char *path) {
	size_t size = 0;
	char *bytes = sys_read_file(path, 10 << 20, &size, NULL);
	bool png = bytes && size > 2000 && memcmp(bytes, "\x89PNG\r\n\x1a\n", 8) == 0;
	free(bytes);
	return png;
}

static void test_png(void) {
	struct sample sample;
	struct err err = {0};
	sample_fill(&sample, "text", 1);
	ok(chart_draw_png(sample.charts, 2, "a folder's/inner", &err) == 0, "PNG into a new folder %s", err.what);
	ok(is_png("a folder's/inner/c1-0.png") && is_png("a folder's/inner/c1-1.png"), "one file a chart");
	mkdir("png2", 0755);
	mkdir("png2/c1-1.png", 0755);
	ok(chart_draw_png(sample.charts, 2, "png2", &err) == -1 && err.code == ERR_FAILED,
	   "a file that can't be written is an error");
	sys_write_file("plain", "x", 1, NULL);
	ok(chart_draw_png(sample.charts, 2, "plain", &err) == -1, "so is a folder that is a file");
}

/* A gnuplot of our own making, alone in PATH. */
static void with_fake(const char *script, const char *what, enum err_code want, const char *forbidden) {
	struct sample sample;
	struct err err = {0};
	char *svg[2], *path = mem_strdup(getenv("PATH"));
	sample_fill(&sample, "text", 1);
	mkdir("fake", 0755);
	unlink("fake/gnuplot");
	if (script) {
		sys_write_file("fake/gnuplot", script, strlen(script), NULL);
		chmod("fake/gnuplot", 0755);
	}
	char *here = getcwd(NULL, 0), *only = mem_printf("%s/fake", here);
	setenv("PATH", only, 1);
	int failed = chart_draw_svg(sample.charts, 2, svg, &err);
	setenv("PATH", path, 1);
	ok(want == ERR_OK ? failed == 0 && !strstr(svg[0], forbidden)
	                  : failed == -1 && err.code == want && !svg[0] && !svg[1],
	   "%s: %s", what, failed ? err.what : "drawn");
	if (want == ERR_UNAVAILABLE)
		ok(strstr(err.hint, "gnuplot") != NULL, "the hint says what to install");
	for (int i = 0; i < 2; i++)
		free(svg[i]);
	free(only);
	free(here);
	free(path);
}

static void test_fakes(void) {
	with_fake(NULL, "no gnuplot", ERR_UNAVAILABLE, NULL);
	with_fake("#!/bin/sh\nexit 0\n", "one that draws nothing", ERR_FAILED, NULL);
	with_fake("#!/bin/sh\nwhile read -r l; do [ \"$l\" = exit ] && break; done; echo oops >&2; exit 1\n",
	          "one that fails", ERR_FAILED, NULL);
	with_fake("#!/bin/sh\nwhile read -r l; do [ \"$l\" = exit ] && break; done; echo '<svg viewBox=\"0 0 1 1\"><g'\n",
	          "one that stops early", ERR_FAILED, NULL);
	with_fake("#!/bin/sh\nwhile read -r l; do [ \"$l\" = exit ] && break; done\nfor i in 1 2; do echo '<svg "
	          "viewBox=\"0 0 1 9\">"
	          "<script>evil()</script><a href=\"x\" onclick=\"evil()\"><path stroke=\"black\" d=\"M0,0 evil\" "
	          "onload=\"evil()\"/></a></svg>';"
	          " done\n",
	          "one that draws more than lines", ERR_OK, "evil");
}

/* Pieces missing or changed: an answer or none, and never what is not well-formed. */
static void test_mangled(void) {
	static const char drawn[] = "<svg viewBox=\"0 0 440 300\"><defs><path id='gpPt0'/></defs><g "
								"stroke-width=\"2.00\"><path stroke='rgb( 18,  52,"
								"  86)' stroke-dasharray='2.5,4.0' d='M344.69,361.00 L390.84,361.00 '/><use "
								"xlink:href='#gpPt4' transform='translate(59.15,102.42)"
								" scale(4.88)' color='rgb( 1, 2, 3)'/><g transform=\"translate(2,3)\" fill=\"black\" "
								"text-anchor=\"end\"><text>a &lt; b</text></g></g>";
	struct chart chart = {.id = "m", .title = "m"};
	unsigned state = 1, faults = 0, answers = 0;
	for (int round = 0; round < 20000; round++) {
		char text[sizeof(drawn)];
		memcpy(text, drawn, sizeof(text));
		for (int k = 0; k < 1 + round % 4; k++) {
			state = state * 1664525 + 1013904223;
			text[(state >> 8) % (sizeof(text) - 1)] = "<>/'\"& \x01"
													  "9MZa=-#("[state >> 4 & 15];
		}
		char *svg = svg_translate(text, strlen(text), &chart);
		int ids;
		answers += svg != NULL;
		faults += svg && svg_fault(svg, &ids);
		free(svg);
	}
	ok(faults == 0 && answers > 1000, "what was drawn may be mangled: %u read of 20000, %u wrong", answers, faults);
}

static void test_python(void) {
	struct sample sample;
	char *svg[2];
	if (system("python3 -c 'import xml.etree.ElementTree' 2>/dev/null") != 0) {
		tap_skip("Python's reader of XML agrees", "no python3 here");
		return;
	}
	FILE *file = fopen("all.xml", "w");
	fprintf(file, "<all>");
	for (size_t i = 0; i < HOSTILE; i += 2) {
		sample_fill(&sample, hostile[i], i);
		if (chart_draw_svg(sample.charts, 2, svg, NULL) != 0)
			break;
		fprintf(file, "%s%s", svg[0], svg[1]);
		free(svg[0]);
		free(svg[1]);
	}
	fprintf(file, "</all>");
	fclose(file);
	ok(system("python3 -c 'import xml.etree.ElementTree as e, sys\nr = e.parse(\"all.xml\").getroot()\nids = "
	          "[x.get(\"id\") for x in "
	          "r.iter() if x.get(\"id\")]\nsys.exit(not (len(r) == 42 and len(ids) == len(set(ids)) == 84))'") == 0,
	   "Python's reader of XML agrees, and ids are unique");
}

int main(void) {
	char folder[] = "/tmp/chart-test-XXXXXX";
	if (!mkdtemp(folder) || chdir(folder) != 0)
		return 99;
	if (!has_gnuplot()) {
		test_fakes();
		test_css();
		test_mangled();
		tap_skip("charts are drawn", "no gnuplot here");
		tree_remove(folder);
		return tap_done();
	}
	test_hostile();
	test_long();
	test_same();
	test_many();
	test_ids();
	test_css();
	test_png();
	test_fakes();
	test_mangled();
	test_python();
	tree_remove(folder);
	return tap_done();
}

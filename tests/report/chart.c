/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Charts are fit for a page: well-formed, alone, the same each time, and hostile texts stay texts. */
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "base/sys.h"
#include "base/tree.h"
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

static struct chart_point line[] = {{1, 2, 1.5, 2.5}, {2, 1, NAN, NAN}, {4, 0.5, 0.4, 0.7}};
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
	struct err err = {0};
	for (size_t i = 0; i < HOSTILE; i++) {
		sample_fill(&samples[i], hostile[i], i);
		charts[2 * i] = samples[i].charts[0];
		charts[2 * i + 1] = samples[i].charts[1];
	}
	for (size_t i = 0; i < HOSTILE * 2; i++) {
		char *svg = chart_svg(&charts[i], &err);
		if (ok(svg != NULL, "a chart of hostile texts is drawn %s", err.what))
			check_one(&charts[i], svg, hostile[i / 2]);
		if (svg && i == 0)
			ok(text_times(svg, "it's") == 2 + 3 + 3, "names, labels and title stand in the picture");
		free(svg);
	}
	if (has_converter())
		ok(chart_png(charts, HOSTILE * 2, "png", &err) == 0, "charts of hostile texts become PNG files %s", err.what);
	else
		tap_skip("hostile texts in PNG files", "no rsvg-convert here");
	free(charts);
	free(samples);
}

static void test_long(void) {
	struct sample sample;
	char *text = mem_alloc(10241, 1);
	for (int i = 0; i < 10240; i++)
		text[i] = "long 'text' <& "[i % 15];
	sample_fill(&sample, text, 0);
	for (int i = 0; i < 2; i++) {
		int ids;
		char *svg = chart_svg(&sample.charts[i], NULL), *fault = svg ? texts_fault(svg) : NULL;
		ok(svg && !svg_fault(svg, &ids) && strlen(svg) < 40000, "texts of 10 kB are cut");
		ok(!fault, "long texts are cut to what the canvas holds: %s", fault ? fault : "no fault");
		free(fault);
		free(svg);
	}
	free(text);
}

static void test_same(void) {
	struct sample sample, other;
	sample_fill(&sample, "text", 7);
	sample_fill(&other, "other", 8);
	char *once = chart_svg(&sample.charts[0], NULL), *between = chart_svg(&other.charts[1], NULL),
		 *twice = chart_svg(&sample.charts[0], NULL);
	ok(once && between && twice && strcmp(once, twice) == 0 && strcmp(once, between) != 0,
	   "the same bytes each time, whatever is drawn before");
	free(once);
	free(between);
	free(twice);
}

/* A few hundred points are a few bytes each, not an element each. */
static void test_small(void) {
	enum { MANY = 400 };
	struct chart_point points[MANY];
	for (int i = 0; i < MANY; i++)
		points[i] = (struct chart_point){i, sin(i), sin(i) - 1, sin(i) + 1};
	struct chart_series series = {"s", CHART_LINE, points, MANY};
	struct chart chart = {.id = "small", .title = "t", .series = &series, .series_count = 1};
	char *svg = chart_svg(&chart, NULL);
	size_t paths = 0;
	for (const char *at = svg; at && (at = strstr(at, "<path")); at++)
		paths++;
	ok(svg && strlen(svg) < MANY * 60 && paths < 20, "%d points in %zu bytes and %zu paths", MANY,
	   svg ? strlen(svg) : 0, paths);
	free(svg);
}

static void test_ids(void) {
	static const char *const bad[] = {"", "A", "a b", "a'b", "a\nb", "../x", "a.b", "\xc3\xa9", NULL};
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct chart chart = {.id = bad[i], .title = "x"};
		struct err err = {0};
		ok(!chart_svg(&chart, &err) && err.code == ERR_USAGE && chart_png(&chart, 1, "png", &err) == -1,
		   "an id that is not valid is refused: %zu", i);
	}
}

/* chart_css defines every class that a picture can have. */
static void test_css(void) {
	bool found = true;
	char *css = chart_css();
	for (int role = 1; role < COLOUR_ROLES; role += role == COLOUR_ABSENT ? COLOUR_SERIES - COLOUR_ABSENT : 1)
		for (const char *kind = "sf"; *kind; kind++) {
			char rule[64];
			snprintf(rule, sizeof(rule), ".chart .%c%d{%s:var(--c%d)}", *kind, role, *kind == 's' ? "stroke" : "fill",
			         role);
			found &= strstr(css, rule) != NULL;
			snprintf(rule, sizeof(rule), "--c%d:#", role);
			const char *light = strstr(css, rule), *dark = light ? strstr(light + 1, rule) : NULL;
			found &= dark && !strstr(dark + 1, rule);
		}
	ok(found, "every class has its colour, for light and for dark");
	ok(strstr(css, "prefers-color-scheme:dark") && strstr(css, "screen") && !strstr(css, "url(") && !strstr(css, "</"),
	   "paper stays light");
	free(css);
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
	ok(chart_png(sample.charts, 2, "a folder's/inner", &err) == 0, "PNG into a new folder %s", err.what);
	ok(is_png("a folder's/inner/c1-0.png") && is_png("a folder's/inner/c1-1.png"), "one file a chart");
	ok(chart_png(sample.charts, 0, "none", &err) == 0 && access("none", F_OK) == 0,
	   "a folder without charts is made, too");
	mkdir("png2", 0755);
	mkdir("png2/c1-1.png", 0755);
	ok(chart_png(sample.charts, 2, "png2", &err) == -1 && err.code == ERR_FAILED,
	   "a file that can't be written is an error");
	sys_write_file("plain", "x", 1, NULL);
	ok(chart_png(sample.charts, 2, "plain", &err) == -1, "a folder that is a file is an error");
}

/* A converter of our own making, alone in PATH. */
static void with_fake(const char *script, const char *what, enum err_code want) {
	struct sample sample;
	struct err err = {0};
	char *path = mem_strdup(getenv("PATH"));
	sample_fill(&sample, "text", 1);
	mkdir("fake", 0755);
	unlink("fake/rsvg-convert");
	if (script) {
		sys_write_file("fake/rsvg-convert", script, strlen(script), NULL);
		chmod("fake/rsvg-convert", 0755);
	}
	char *here = getcwd(NULL, 0), *only = mem_printf("%s/fake", here);
	setenv("PATH", only, 1);
	char *svg = chart_svg(&sample.charts[0], NULL);
	int failed = chart_png(sample.charts, 2, "faked", &err);
	setenv("PATH", path, 1);
	ok(failed == -1 && err.code == want, "%s: %s", what, failed ? err.what : "drawn");
	ok(svg != NULL, "an SVG needs no converter");
	if (want == ERR_UNAVAILABLE)
		ok(strstr(err.hint, "rsvg-convert") != NULL, "the hint says what to install");
	free(svg);
	free(only);
	free(here);
	free(path);
}

static void test_fakes(void) {
	with_fake(NULL, "a missing converter is an error", ERR_UNAVAILABLE);
	with_fake("#!/bin/sh\necho oops >&2; exit 1\n", "a converter that fails is an error", ERR_FAILED);
	with_fake("#!/bin/sh\nfor o; do case $o in --output=*) echo half >\"${o#*=}\" ;; esac; done; exit 1\n",
	          "a converter that writes a part is an error", ERR_FAILED);
	ok(access("faked/c1-0.png", F_OK) != 0, "a part of a picture is not left behind");
}

static void test_python(void) {
	struct sample sample;
	if (system("python3 -c 'import xml.etree.ElementTree' 2>/dev/null") != 0) {
		tap_skip("Python's reader of XML agrees", "no python3 here");
		return;
	}
	FILE *file = fopen("all.xml", "w");
	fprintf(file, "<all>");
	for (size_t i = 0; i < HOSTILE; i += 2) {
		sample_fill(&sample, hostile[i], i);
		for (int k = 0; k < 2; k++) {
			char *svg = chart_svg(&sample.charts[k], NULL);
			fprintf(file, "%s", svg ? svg : "");
			free(svg);
		}
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
	test_hostile();
	test_long();
	test_same();
	test_small();
	test_ids();
	test_css();
	test_fakes();
	test_python();
	if (has_converter())
		test_png();
	else
		tap_skip("PNG files", "no rsvg-convert here");
	tree_remove(folder);
	return tap_done();
}

/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Nothing that is written as a text can become markup. */
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "src/cmd/report/html.h"
#include "tests/tap.h"

static const char *const hostile[] = {
	"<script>alert(1)</script>",
	"</p><img src=x onerror=alert(1)>",
	"\" onclick=\"x",
	"' x='",
	"&amp;",
	"&#60;",
	"<!--",
	"]]>",
	"\x01\x02\x7f",
	"\xff\xfe",
	"\xc3",
	"\xe2\x82",
	"\xed\xa0\x80",
	"\xc0\xbc",
	"\xef\xbf\xbf",
	"\xc2\x85",
	"\xe2\x80\xae",
	"javascript:alert(1)",
	"%s%n",
	"",
};
enum { HOSTILE = sizeof hostile / sizeof *hostile };

/* Between the marks, with nothing that begins or ends markup, and all of it text. */
static bool is_plain(const char *page, const char *from, const char *to) {
	const char *at = strstr(page, from), *end = at ? strstr(at + strlen(from), to) : NULL;
	if (!end)
		return false;
	for (at += strlen(from); at < end;) {
		size_t length = text_utf8(at, (size_t)(end - at));
		if (!length || strchr("<>\"'", *at) || text_is_control(at, length))
			return false;
		at += length;
	}
	return true;
}

static char *finished(struct html *html) {
	size_t size;
	char *page = html_finish(html, &size);
	if (strlen(page) != size)
		page[0] = '\0';
	html_free(html);
	return page;
}

static void test_text(void) {
	for (size_t i = 0; i < HOSTILE; i++) {
		struct html *html = html_new();
		html_begin(html, "p", "title", hostile[i], NULL);
		html_put(html, "%s</p><em>%s</em>", hostile[i], hostile[i]);
		char *page = finished(html);
		ok(is_plain(page, "<p title=\"", "\">") && is_plain(page, "\">", "</p>") && is_plain(page, "<em>", "</em>"),
		   "hostile text %zu is a text", i);
		free(page);
	}
}

static void test_exact(void) {
	struct html *html = html_new();
	html_begin(html, "a", "href", "?a&b", "class", NULL, NULL);
	html_put(html, "%d < %s</a>", 1, "\"x\"");
	char *page = finished(html);
	ok(strcmp(page, "<a href=\"?a&amp;b\">1 < &quot;x&quot;</a>") == 0, "each character of a text is escaped once");
	free(page);
	html = html_new();
	html_put(html, "%s",
	         "a\xff"
	         "b\xc3\xa9\n\t");
	page = finished(html);
	ok(strcmp(page, "a\xef\xbf\xbd"
	                "b\xc3\xa9\n\t") == 0,
	   "what is no UTF-8 is replaced, the rest stays");
	free(page);
}

/* The same as printf writes, with its texts escaped. */
static void test_directives(void) {
	struct html *html = html_new();
	html_put(html, "<i>%d|%+.2f|%.3g|%lld|%llu|%zu|%c|%.2s|%.*s|%06.1e|100 %%</i>", -7, 1.005, 1234567.0, -5LL, 6ULL,
	         (size_t)8, '<', "<<<", 1, ">>", 12.5);
	char *page = finished(html), exact[200];
	snprintf(exact, sizeof exact, "<i>%d|%+.2f|%.3g|%lld|%llu|%zu|&lt;|&lt;&lt;|&gt;|%06.1e|100 %%</i>", -7, 1.005,
	         1234567.0, -5LL, 6ULL, (size_t)8, 12.5);
	ok(strcmp(page, exact) == 0, "numbers are written as printf does");
	free(page);
}

static void test_markup(void) {
	struct html *html = html_new();
	html_markup(html, "<x>%d&y;");
	html_put(html, "b");
	char *page = finished(html);
	ok(strcmp(page, "<x>%d&y;b") == 0, "markup stays as it is");
	free(page);
}

static void test_sheet(void) {
	static const char *const titles[] = {"name<", "\1time", "\2words", NULL};
	struct html *html = html_new();
	struct html_table table = html_table_begin(html, NULL, "caption\"<", titles);
	html_table_row(&table);
	html_table_text(&table, "%s", "<td>");
	html_table_number(&table, 0.5, "%s", "500 ms");
	html_table_cell(&table, INFINITY);
	html_put(html, "<a href=\"#a\">%s</a>", "<a>");
	html_table_cell_end(&table);
	html_table_row(&table);
	html_table_text(&table, "%s", "b");
	html_table_number(&table, NAN, "%s", "nan");
	html_table_text(&table, "c");
	html_table_end(&table);
	char *page = finished(html);
	ok(strstr(page, "<th scope=\"row\">&lt;td&gt;</th><td class=\"number\" data-value=\"0.5\">500 ms</td>") != NULL,
	   "a row has its name and its value");
	ok(strstr(page, "data-value=\"\">-</td>") != NULL, "what is not known has no value and a dash");
	ok(strstr(page, "<th scope=\"col\">name&lt;</th><th scope=\"col\" class=\"number\">time</th>") != NULL,
	   "a table has its head");
	free(page);
	html = html_new();
	table = html_table_begin(html, NULL, "empty", titles);
	html_table_end(&table);
	page = finished(html);
	ok(strstr(page, "<tbody></tbody></table></div>") != NULL, "a table without rows ends, too");
	free(page);
}

int main(void) {
	test_text();
	test_exact();
	test_directives();
	test_markup();
	test_sheet();
	return tap_done();
}

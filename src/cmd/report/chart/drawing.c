/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <math.h>

#include "base/mem.h"
#include "base/text.h"
#include "src/cmd/report/chart/chart_impl.h"

enum { LONGEST = 4096 };
static const char ellipsis[] = "\xE2\x80\xA6";

/* XML does not allow U+FFFE and U+FFFF (XML 1.0, 2.2). */
static bool is_forbidden(const unsigned char *c, size_t length) {
	return length == 3 && c[0] == 0xEF && c[1] == 0xBF && c[2] >= 0xBE;
}

char *text_tame(const char *text) {
	char *tame = mem_printf("%.*s", (int)LONGEST, text ? text : ""), *to = tame;
	text_clean(tame, false);
	size_t size = strlen(tame), length;
	for (size_t i = 0; i < size; i += length) {
		length = text_utf8(tame + i, size - i);
		if (is_forbidden((const unsigned char *)tame + i, length)) {
			*to++ = '?';
			continue;
		}
		memmove(to, tame + i, length);
		to += length;
	}
	*to = '\0';
	return tame;
}

/* The widths follow DejaVu Sans and Verdana, the widest sans-serif fonts in common use. Scripts above U+1100 are mostly
 * square. */
static double character_width(const char *text) {
	unsigned char c = (unsigned char)text[0];
	if (c >= 0xE1 && memcmp(text, ellipsis, 3) != 0)
		return CANVAS_FONT * 1.1;
	if (c && strchr("MW@%", c))
		return CANVAS_FONT * 1.0;
	if (c == 'm' || c == 'w')
		return CANVAS_FONT * 0.98;
	if (c >= 'A' && c <= 'Z')
		return CANVAS_FONT * 0.77;
	return CANVAS_FONT * (c && strchr("ijl.,;:'| ", c) ? 0.36 : 0.64);
}

static size_t step(const char *text) {
	size_t length = text_utf8(text, strlen(text));
	return length ? length : 1;
}

double text_width(const char *text) {
	double width = 0;
	for (; *text; text += step(text))
		width += character_width(text);
	return width;
}

/* Returns how many bytes of it fit. */
static size_t fitting(const char *text, double width) {
	size_t used = 0;
	while (text[used] && (width -= character_width(text + used)) >= 0)
		used += step(text + used);
	return used;
}

char *text_fit(const char *text, double width) {
	if (text_width(text) <= width)
		return mem_strdup(text);
	return mem_printf("%.*s%s", (int)fitting(text, width - text_width(ellipsis)), text, ellipsis);
}

/* Returns the end of the last word that fits; a word that is longer than a line is broken. */
static size_t line_end(const char *text, double width) {
	size_t most = fitting(text, width);
	for (size_t end = most; end > most / 2 && text[most]; end--)
		if (text[end] == ' ')
			return end;
	return most;
}

size_t text_wrap(const char *text, double width, char **lines, size_t max) {
	size_t count = 0;
	for (text += strspn(text, " "); *text && count < max; text += strspn(text, " ")) {
		size_t end = line_end(text, width);
		bool last = count + 1 == max || end == 0;
		lines[count++] = last ? text_fit(text, width) : mem_printf("%.*s", (int)end, text);
		if (last)
			break;
		text += end;
	}
	return count;
}

/* The series use Okabe, Ito: Color Universal Design (2008), without black, which is the ink, and without yellow, which
 * is too faint on white. Dark pages use lighter variants. */
static const struct {
	unsigned light, dark;
} roles[COLOUR_ROLES] = {
	[COLOUR_INK] = {0x1a1a1a, 0xe8e8e8},        [COLOUR_AXIS] = {0x707070, 0x9a9a9a},
	[COLOUR_RULE] = {0xdddddd, 0x3c3c3c},       [COLOUR_ABSENT] = {0xeeeeee, 0x2c2c2c},
	[COLOUR_SERIES] = {0x0072b2, 0x4fa9e0},     [COLOUR_SERIES + 1] = {0xd55e00, 0xf47c35},
	[COLOUR_SERIES + 2] = {0x009e73, 0x1fc598}, [COLOUR_SERIES + 3] = {0xcc79a7, 0xe39fc5},
	[COLOUR_SERIES + 4] = {0xe69f00, 0xe69f00}, [COLOUR_SERIES + 5] = {0x56b4e9, 0xa9dbf7},
	[COLOUR_SERIES + 6] = {0x1a1a1a, 0xe8e8e8},
};

struct paint paint_role(int role) {
	return (struct paint){.role = role};
}

struct paint paint_rgb(unsigned rgb) {
	return (struct paint){.rgb = rgb};
}

unsigned paint_on_white(struct paint paint) {
	return paint.role ? roles[paint.role].light : paint.rgb;
}

static void variables_add(char **css, bool dark) {
	for (int role = 1; role < COLOUR_ROLES; role++)
		if (roles[role].light)
			mem_append(css, "--c%d:#%06x;", role, dark ? roles[role].dark : roles[role].light);
}

/* The classes sN and fN stroke and fill in the colour of role N. */
char *chart_css(void) {
	char *css = mem_strdup(".chart{");
	variables_add(&css, false);
	mem_append(&css,
	           "display:block;width:100%%;max-width:36rem;height:auto;overflow:hidden;fill:none;stroke-linejoin:round;"
	           "font-family:system-ui,\"Liberation Sans\",Arial,sans-serif;break-inside:avoid}\n"
	           "@media screen and (prefers-color-scheme:dark){.chart{");
	variables_add(&css, true);
	mem_append(&css, "}}\n");
	for (int role = 1; role < COLOUR_ROLES; role++)
		if (roles[role].light)
			mem_append(&css, ".chart .s%d{stroke:var(--c%d)}.chart .f%d{fill:var(--c%d)}\n", role, role, role, role);
	return css;
}

/* Ten samples of viridis: van der Walt, Smith: A Better Default Colormap for Matplotlib (SciPy 2015), in the public
 * domain (CC0). Equal steps look equal, also to the colour-blind and in grey. */
static const unsigned viridis[] = {0x440154, 0x482878, 0x3e4989, 0x31688e, 0x26828e,
                                   0x1f9e89, 0x35b779, 0x6ece58, 0xb5de2b, 0xfde725};

static unsigned blend(unsigned a, unsigned b, double share, int shift) {
	double from = a >> shift & 0xFF, to = b >> shift & 0xFF;
	return (unsigned)lround(from + (to - from) * share) << shift;
}

/* Colours are rounded to 64 steps, so that neighbouring cells of similar values become one path. */
unsigned colour_map(double share) {
	enum { STEPS = 63, LAST = sizeof(viridis) / sizeof(*viridis) - 1 };
	double place = round(fmin(fmax(share, 0), 1) * STEPS) / STEPS * LAST;
	size_t i = (size_t)fmin(floor(place), LAST - 1);
	unsigned rgb = 0;
	for (int shift = 0; shift <= 16; shift += 8)
		rgb |= blend(viridis[i], viridis[i + 1], place - (double)i, shift);
	return rgb;
}

/* White has the higher contrast on colours below this share, black on those above (WCAG 2.1, relative luminance
 * 0.179). */
bool colour_map_is_dark(double share) {
	return share < 0.44;
}

const char *series_dash(size_t index) {
	static const char *const dashes[] = {NULL, "8,3", "3,3", "10,3,2,3", "14,3"};
	return dashes[index % (sizeof(dashes) / sizeof(*dashes))];
}

/* The numbers of shapes, colours and dashes are coprime, so that combinations repeat as late as possible. */
enum shape series_shape(size_t index) {
	return (enum shape)(index % SHAPE_SERIES);
}

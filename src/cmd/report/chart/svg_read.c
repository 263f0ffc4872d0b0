/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "src/base/mem.h"
#include "src/cmd/report/chart/svg.h"

void svg_tag_free(struct svg_tag *tag) {
	for (size_t i = 0; i < tag->attribute_count; i++)
		free(tag->attributes[i].value);
	tag->attribute_count = 0;
}

static const char *skip_space(const char *at, const char *end) {
	while (at < end && isspace((unsigned char)*at))
		at++;
	return at;
}

static const char *read_name(const char *at, const char *end, char name[32]) {
	size_t length = 0;
	for (; at < end && (isalnum((unsigned char)*at) || strchr("_:-.", *at)); at++)
		if (length < 31)
			name[length++] = *at;
	name[length] = '\0';
	return at;
}

/* name = "value"; NULL where it is not that. */
static const char *read_attribute(const char *at, const char *end, struct svg_tag *tag) {
	if (tag->attribute_count == SVG_ATTRIBUTES)
		return NULL;
	at = skip_space(read_name(at, end, tag->attributes[tag->attribute_count].name), end);
	if (at == end || *at != '=')
		return NULL;
	at = skip_space(at + 1, end);
	if (at == end || (*at != '"' && *at != '\''))
		return NULL;
	const char *close = memchr(at + 1, *at, (size_t)(end - at - 1));
	if (!close)
		return NULL;
	tag->attributes[tag->attribute_count++].value = mem_printf("%.*s", (int)(close - at - 1), at + 1);
	return close + 1;
}

static const char *read_attributes(const char *at, const char *end, struct svg_tag *tag) {
	while ((at = skip_space(at, end)) < end && *at != '>') {
		if (*at == '/') {
			tag->is_empty = true;
			at++;
			continue;
		}
		at = read_attribute(at, end, tag);
		if (!at)
			return NULL;
	}
	return at == end ? NULL : at + 1;
}

const char *svg_tag_read(const char *at, const char *end, struct svg_tag *tag) {
	*tag = (struct svg_tag){.is_ignored = at + 1 < end && (at[1] == '?' || at[1] == '!')};
	if (tag->is_ignored) {
		const char *close = memchr(at, '>', (size_t)(end - at));
		return close ? close + 1 : NULL;
	}
	tag->is_end = at + 1 < end && at[1] == '/';
	at = read_attributes(read_name(at + 1 + tag->is_end, end, tag->name), end, tag);
	if (!at)
		svg_tag_free(tag);
	return at;
}

const char *svg_attribute(const struct svg_tag *tag, const char *name) {
	for (size_t i = 0; i < tag->attribute_count; i++)
		if (strcmp(tag->attributes[i].name, name) == 0)
			return tag->attributes[i].value;
	return NULL;
}

static void read_transform(struct svg_state *state, const char *transform) {
	const char *turn = strstr(transform, "rotate(");
	double x, y;
	if (sscanf(transform, "translate(%lf,%lf)", &x, &y) != 2)
		return;
	state->x = x;
	state->y = y;
	state->angle = turn ? strtod(turn + 7, NULL) : 0;
}

void svg_state_read(struct svg_state *state, const struct svg_tag *tag) {
	const char *width = svg_attribute(tag, "stroke-width"), *fill = svg_attribute(tag, "fill");
	const char *anchor = svg_attribute(tag, "text-anchor"), *transform = svg_attribute(tag, "transform");
	const char *weight = svg_attribute(tag, "font-weight"), *family = svg_attribute(tag, "font-family");
	if (width)
		state->stroke_width = strtod(width, NULL);
	if (fill)
		snprintf(state->fill, sizeof(state->fill), "%s", fill);
	if (transform)
		read_transform(state, transform);
	if (anchor)
		state->anchor = *anchor == 'm' || *anchor == 'e' ? *anchor : 0;
	/* gnuplot 5.4 takes ":Bold" for a family */
	state->bold |= (weight && strcmp(weight, "bold") == 0) || (family && strstr(family, ":Bold"));
}

/* The five of XML; anything else stays as it is written and is escaped again. */
char *svg_plain_text(const char *content, size_t size) {
	static const struct {
		const char *entity;
		char c;
	} known[] = {{"&lt;", '<'}, {"&gt;", '>'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&#39;", '\''}};
	enum { KNOWN = sizeof(known) / sizeof(*known) };
	char *text = mem_alloc(size + 1, 1), *to = text;
	for (const char *at = content, *end = content + size; at < end;) {
		size_t i = 0, length = 1;
		while (i < KNOWN && strncmp(at, known[i].entity, strlen(known[i].entity)) != 0)
			i++;
		if (i < KNOWN)
			length = strlen(known[i].entity);
		*to++ = i < KNOWN ? known[i].c : *at;
		at += length;
	}
	return text;
}

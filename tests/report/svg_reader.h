/* SPDX-License-Identifier: GPL-3.0-or-later */
/* A strict reader of the SVG that charts are written in: tags, attributes, texts, paths. It knows nothing of how they
 * are written. */
#ifndef TESTS_REPORT_SVG_READER_H
#define TESTS_REPORT_SVG_READER_H
#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

enum { SVG_ATTRIBUTES = 16, SVG_SPOTS = 4096 };

struct svg_tag {
	char name[32];
	bool is_end, is_empty;
	struct {
		char name[32];
		char *value;
	} attributes[SVG_ATTRIBUTES];
	size_t attribute_count;
};

static void svg_tag_free(struct svg_tag *tag) {
	for (size_t i = 0; i < tag->attribute_count; i++)
		free(tag->attributes[i].value);
	tag->attribute_count = 0;
}

static const char *svg_read_name(const char *at, char name[32]) {
	size_t length = strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
	if (length == 0 || length > 31)
		return NULL;
	memcpy(name, at, length);
	name[length] = '\0';
	return at + length;
}

/* Reads name="value"; NULL if it is something else. */
static const char *svg_read_attribute(const char *at, struct svg_tag *tag) {
	if (tag->attribute_count == SVG_ATTRIBUTES || !(at = svg_read_name(at, tag->attributes[tag->attribute_count].name)))
		return NULL;
	const char *close = strncmp(at, "=\"", 2) == 0 ? strchr(at + 2, '"') : NULL;
	if (!close)
		return NULL;
	tag->attributes[tag->attribute_count++].value = mem_printf("%.*s", (int)(close - at - 2), at + 2);
	return close + 1;
}

/* Reads a tag at '<' and returns the place after its '>', NULL if it is not a tag. Comments, doctypes and instructions
 * are not accepted. */
static const char *svg_tag_read(const char *at, struct svg_tag *tag) {
	*tag = (struct svg_tag){.is_end = at[1] == '/'};
	at = svg_read_name(at + 1 + tag->is_end, tag->name);
	while (at && *at == ' ')
		at = svg_read_attribute(at + 1, tag);
	if (at && *at == '/') {
		tag->is_empty = true;
		at++;
	}
	if (at && *at == '>')
		return at + 1;
	svg_tag_free(tag);
	return NULL;
}

static const char *svg_attribute(const struct svg_tag *tag, const char *name) {
	for (size_t i = 0; i < tag->attribute_count; i++)
		if (strcmp(tag->attributes[i].name, name) == 0)
			return tag->attributes[i].value;
	return NULL;
}

/* Replaces the five entities of XML. The caller frees the text. */
static char *svg_plain_text(const char *content, size_t size) {
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

struct svg_path {
	struct {
		double x, y;
		char command; /* M, L, H or V */
	} spots[SVG_SPOTS];
	size_t count;
};

/* Reads the absolute commands M, L, H, V and z; false if there is anything else. */
__attribute__((unused)) static bool svg_path_read(const char *d, struct svg_path *path) {
	double x = 0, y = 0;
	path->count = 0;
	while (*d) {
		char command = *d++, *end;
		if (command == 'z')
			continue;
		if (!strchr("MLHV", command) || path->count == SVG_SPOTS)
			return false;
		if (command != 'V') {
			x = strtod(d, &end);
			if (end == d)
				return false;
			d = end;
		}
		if (command != 'H') {
			y = strtod(d, &end);
			if (end == d)
				return false;
			d = end;
		}
		path->spots[path->count].x = x;
		path->spots[path->count].y = y;
		path->spots[path->count++].command = command;
	}
	return path->count > 0;
}

#endif

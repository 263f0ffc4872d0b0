/* SPDX-License-Identifier: BSD-3-Clause */
#include "base/demangle.h"
#include "base/mem.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>

typedef char *demangle_function(const char *, char *, size_t *, int *);

/* Whether the text ends with "operator", after which brackets are part of a name. */
static bool is_operator(const char *text, size_t length) {
	static const char word[] = "operator";
	const size_t size = sizeof word - 1;
	return length >= size && memcmp(text + length - size, word, size) == 0 &&
	       (length == size || !(isalnum((unsigned char)text[length - size - 1]) || text[length - size - 1] == '_'));
}

/* Whether text[at] belongs to the sign of an operator, or follows it. */
static bool is_sign(const char *text, size_t at) {
	while (at > 0 && strchr("<>=-", text[at - 1]))
		at--;
	return is_operator(text, at);
}

/* The place of the bracket that opens the parameters: of several pairs at the outermost level the last. */
static size_t parameters_find(const char *text) {
	size_t length = strlen(text), at = length;
	int depth = 0;
	for (size_t i = length; i-- > 0;) {
		if (text[i] == ')' && depth++ == 0)
			at = length;
		if (text[i] == '(' && --depth == 0) {
			at = i;
			break;
		}
	}
	return at > 0 && at < length && !is_operator(text, at) ? at : length;
}

/* The result's type comes before the last space that is not within brackets; "operator new" has a space, too. */
static size_t name_find(const char *text, size_t length) {
	int depth = 0;
	for (size_t i = length; i-- > 0;) {
		char c = text[i];
		bool sign = strchr("<> ", c) && is_sign(text, i);
		depth += !sign && (c == '>' || c == ')' || c == '}' || c == ']');
		depth -= !sign && (c == '<' || c == '(' || c == '{' || c == '[');
		if (c == ' ' && depth == 0 && !sign)
			return i + 1;
	}
	return 0;
}

void demangle_trim(const char *text, char *name, size_t size) {
	size_t length = parameters_find(text), from = name_find(text, length);
	snprintf(name, size, "%.*s", (int)(length - from), text + from);
}

static demangle_function *demangler(void *library) {
	demangle_function *function = NULL;
	if (library)
		*(void **)&function = dlsym(library, "__cxa_demangle");
	return function;
}

static bool is_fortran(const char *symbol, char *name, size_t size) {
	const char *mark = strstr(symbol, "_MOD_");
	bool good = strncmp(symbol, "__", 2) == 0 && mark && mark > symbol + 2 && mark[5];
	if (good)
		snprintf(name, size, "%.*s::%s", (int)(mark - symbol - 2), symbol + 2, mark + 5);
	return good;
}

bool demangle_is_needed(const char *symbol) {
	return strncmp(symbol, "_Z", 2) == 0 || strstr(symbol, "_MOD_");
}

void demangle(const char *symbol, char *name, size_t size) {
	if (is_fortran(symbol, name, size))
		return;
	void *library = strncmp(symbol, "_Z", 2) == 0 ? dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL) : NULL;
	demangle_function *function = demangler(library);
	int status = -1;
	mem_auto char *text = function ? function(symbol, NULL, NULL, &status) : NULL;
	if (text && status == 0)
		demangle_trim(text, name, size);
	else
		snprintf(name, size, "%s", symbol);
	if (library)
		dlclose(library);
}

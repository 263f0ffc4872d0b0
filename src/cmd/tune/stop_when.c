/* SPDX-License-Identifier: GPL-3.0-or-later */
#include "src/cmd/tune/stop_when.h"

const struct opt stop_when_options[] = {
	OPT_GROUP("Search"),
	{"stop-when", 0, "gain<1%", "stop when less gain is expected (1% if timed)", 0},
	{0},
};

static const char *blanks_skip(const char *text) {
	return text + strspn(text, " ");
}

/* Returns the text after `word` and blanks, or NULL if `text` does not begin with `word`. */
static const char *after(const char *text, const char *word) {
	return text && strncmp(text, word, strlen(word)) == 0 ? blanks_skip(text + strlen(word)) : NULL;
}

int stop_when_read(const struct opt_args *args, double *gain, struct err *err) {
	const char *text = opt_get(args, "stop-when", NULL);
	*gain = 0;
	if (!text)
		return 0;
	const char *number = after(after(blanks_skip(text), "gain"), "<");
	char *end = NULL;
	double value = number && strspn(number, "0123456789.") && !strpbrk(number, "xX") ? strtod(number, &end) : -1;
	const char *rest = end ? blanks_skip(end) : "";
	bool percent = *rest == '%';
	value = percent ? value / 100 : value;
	if (!end || end == number || *blanks_skip(rest + percent) || !(value > 0 && value < 1))
		return err_set(err, ERR_USAGE, "write --stop-when 'gain<1%'", "--stop-when takes gain<X%%, not '%.60s'", text);
	*gain = value;
	return 0;
}

bool stop_when_holds(double gain, const struct search *search, uint64_t left) {
	if (!(gain > 0) || history_best(search_history(search)) == UINT64_MAX)
		return false;
	return search_promise(search, left) < gain; /* false if the promise is NaN */
}

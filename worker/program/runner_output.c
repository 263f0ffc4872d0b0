/* SPDX-License-Identifier: BSD-3-Clause */
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/sys.h"
#include "base/text.h"
#include "worker/program/program_impl.h"

/* Range in which neither ratios nor squares of metrics overflow or underflow. */
static const double METRIC_LEAST = 1e-100, METRIC_MOST = 1e100;
/* regexec() may take a time that grows with the square of the text: 18 s for 64 KiB of digits and "([0-9]+)k$". So a
 * long line is searched in pieces that overlap by some words. */
enum { METRIC_LINE = 64 * 1024, METRIC_PIECE = 4 * 1024, METRIC_OVERLAP = 256, METRIC_TEXT = 160 };

struct program_metric {
	regex_t regex;
	char *expression;
	char line[METRIC_LINE + 1]; /* the line so far */
	size_t used;
	bool found, too_long;
	char text[METRIC_TEXT];  /* the last match */
	char whole[METRIC_TEXT]; /* the number that it is a part of, or "" */
};

struct program_metric *program_metric_new(const char *expression, struct err *err) {
	struct program_metric *metric = mem_alloc(1, sizeof *metric);
	char why[160];
	if (!pattern_compile(&metric->regex, expression, why, sizeof why)) {
		err_set(err, ERR_USAGE, "write a POSIX extended regular expression, such as \"rate ([0-9.]+)\"",
		        "the metric \"%.200s\" cannot be read: %s", expression, why);
		free(metric);
		return NULL;
	}
	metric->expression = mem_strdup(expression);
	return metric;
}

static void metric_free(struct program_metric *metric) {
	if (metric) {
		regfree(&metric->regex);
		free(metric->expression);
		free(metric);
	}
}

void program_metric_start(struct program_metric *metric) {
	metric->used = 0;
	metric->found = false;
}

static void match_keep(struct program_metric *metric, const regmatch_t *match) {
	size_t size = match->rm_so < 0 ? 0 : (size_t)(match->rm_eo - match->rm_so);
	metric->found = true;
	metric->too_long = size >= METRIC_TEXT;
	size = metric->too_long ? METRIC_TEXT - 1 : size;
	if (size > 0)
		memcpy(metric->text, metric->line + match->rm_so, size);
	metric->text[size] = '\0';
}

static bool is_digit(const struct program_metric *metric, regoff_t at) {
	return at >= 0 && metric->line[at] && isdigit((unsigned char)metric->line[at]);
}

/* A digit, or a mark between two digits. */
static bool is_inside(const struct program_metric *metric, regoff_t at) {
	bool marks = at >= 0 && (metric->line[at] == '.' || metric->line[at] == ',');
	return is_digit(metric, at) || (marks && is_digit(metric, at - 1) && is_digit(metric, at + 1));
}

/* Does a number in the style of 1,234.5 or 3.2e3 go on at `at`? Behind a point, a comma begins another number. */
static bool goes_on(const struct program_metric *metric, regoff_t at) {
	const char *next = metric->line + at;
	if (*next == ',' && strpbrk(metric->text, ".eE"))
		return false;
	if ((*next == 'e' || *next == 'E') && is_digit(metric, at - 1))
		return is_digit(metric, at + 1 + (next[1] == '-' || next[1] == '+'));
	return is_digit(metric, at - 1) && is_inside(metric, at);
}

/* "([0-9.]+)" finds 1 in "1,5" and 3.2 in "3.2e3", and "[0-9]+ ms" finds 5 in "1.5 ms". Text beside the number that the
 * expression itself expects is intended. */
static void whole_keep(struct program_metric *metric, const regmatch_t *all, const regmatch_t *number) {
	regoff_t from = number->rm_so, to = number->rm_eo;
	metric->whole[0] = '\0';
	if (from < 0 || from == to)
		return;
	while (all->rm_so == number->rm_so && is_digit(metric, number->rm_so) && is_inside(metric, from - 1))
		from--;
	if (all->rm_eo == number->rm_eo && goes_on(metric, to)) {
		to += metric->line[to] == 'e' || metric->line[to] == 'E';
		to += 1; /* a mark, or the first digit or the sign of an exponent */
		to += (regoff_t)strspn(metric->line + to, "0123456789.,eE");
	}
	if (to - from > number->rm_eo - number->rm_so)
		snprintf(metric->whole, sizeof metric->whole, "%.*s", (int)(to - from), metric->line + from);
}

static void line_keep(struct program_metric *metric, const char *data, size_t size) {
	size_t room = METRIC_LINE - metric->used;
	size = size < room ? size : room;
	memcpy(metric->line + metric->used, data, size);
	metric->used += size;
}

/* All matches of the piece, because the last one counts. After an empty match go on one byte further. */
static void piece_search(struct program_metric *metric, regoff_t from, regoff_t to, int flags) {
	regmatch_t match[2] = {{.rm_so = from, .rm_eo = to}};
	size_t groups = metric->regex.re_nsub > 0 ? 2 : 1;
	while (regex_range(&metric->regex, metric->line, groups, match, flags) == 0) {
		match_keep(metric, &match[groups - 1]);
		whole_keep(metric, &match[0], &match[groups - 1]);
		regoff_t next = match[0].rm_eo + (match[0].rm_eo == match[0].rm_so);
		if (next >= to)
			break;
		match[0] = (regmatch_t){.rm_so = next, .rm_eo = to};
	}
}

/* The next piece begins with a word near the end of this one, so that a name and its value are together in one of them.
 */
static regoff_t piece_next(const struct program_metric *metric, regoff_t end) {
	for (regoff_t at = end - METRIC_OVERLAP; at < end; at++)
		if (metric->line[at - 1] && strchr(" \t\r,;", metric->line[at - 1]))
			return at;
	return end;
}

static void line_end(struct program_metric *metric) {
	regoff_t size = (regoff_t)metric->used, from = 0;
	metric->line[metric->used] = '\0';
	metric->used = 0;
	while (size - from > METRIC_PIECE) {
		piece_search(metric, from, from + METRIC_PIECE, REG_NOTEOL);
		from = piece_next(metric, from + METRIC_PIECE);
	}
	piece_search(metric, from, size, 0);
}

void program_metric_add(struct program_metric *metric, const char *data, size_t size) {
	for (const char *newline; size > 0 && (newline = memchr(data, '\n', size));) {
		size_t length = (size_t)(newline - data);
		line_keep(metric, data, length);
		line_end(metric);
		data += length + 1;
		size -= length + 1;
	}
	line_keep(metric, data, size);
}

void program_metric_end(struct program_metric *metric) {
	if (metric->used > 0)
		line_end(metric);
}

bool program_metric_found(const struct program_metric *metric) {
	return metric->found;
}

static int refuse_text(const struct program_metric *metric, struct err *err) {
	bool group = metric->regex.re_nsub > 0;
	const char *advice = strpbrk(metric->text, "0123456789") ? "; put the number alone in parentheses"
	                     : group                             ? ""
	                                                         : "; add the number in parentheses, as ([0-9.]+)";
	return err_set(err, ERR_FAILED, NULL, "the metric \"%.160s\" found \"%.60s\", which is not a number%s",
	               metric->expression, metric->text, advice);
}

int program_metric_value(struct program_metric *metric, const char *otherwise, double *value, struct err *err) {
	if (otherwise && !program_metric_found(metric)) {
		program_metric_add(metric, otherwise, strlen(otherwise));
		program_metric_end(metric);
	}
	bool bound = *metric->text == '>' || *metric->text == '<';
	const char *text = metric->text + bound;
	char *end;
	*value = NAN;
	if (!metric->found) {
		return err_set(err, ERR_FAILED, NULL, "no line of the output matches the metric \"%.160s\"",
		               metric->expression);
	}
	*value = strtod(text, &end);
	end += strspn(end, " \t\r");
	if (end == text || *end || metric->too_long) {
		*value = NAN;
		return refuse_text(metric, err);
	}
	if (metric->whole[0]) {
		*value = NAN;
		return err_set(err, ERR_FAILED, NULL,
		               "the metric \"%.160s\" found \"%.60s\", which is only a part of \"%.60s\"; match all of it, or "
		               "what stands beside it, too",
		               metric->expression, metric->text, metric->whole);
	}
	if (!isfinite(*value) || *value <= 0) {
		return err_set(err, ERR_FAILED, NULL, "the metric \"%.160s\" found \"%.60s\", which is %s", metric->expression,
		               metric->text,
		               !isfinite(*value) ? "not finite"
		               : *value < 0      ? "below 0"
		                                 : "not above 0");
	}
	if (*value < METRIC_LEAST || *value > METRIC_MOST) {
		return err_set(err, ERR_FAILED, NULL, "the metric \"%.160s\" found \"%.60s\", which is not between %g and %g",
		               metric->expression, metric->text, METRIC_LEAST, METRIC_MOST);
	}
	return bound;
}

/* Bytes. */
enum {
	HELD_MOST = SYS_OUTPUT_HELD, /* until the run ends */
	HELD_LEAST = 64 << 10,       /* where so much memory is refused */
	HELD_READ = 1 << 20,         /* by one read */
	HELD_KEPT = 4 << 20          /* in memory between two runs */
};

bool program_output_wanted(const struct program_output *output) {
	return output->keep || output->metric || output->spool >= 0;
}

static void spool_failed(struct program_output *output, int why) {
	snprintf(output->failure, sizeof output->failure, "its output cannot be kept for verify: %s", strerror(why));
}

void program_output_start(struct program_output *output) {
	output->failure[0] = '\0';
	output->held_size = 0;
	digest_start(&output->digest);
	if (output->metric)
		program_metric_start(output->metric);
	if (output->spool >= 0 && (ftruncate(output->spool, 0) != 0 || lseek(output->spool, 0, SEEK_SET) != 0))
		spool_failed(output, errno);
}

static void spool_write(struct program_output *output, const char *data, size_t size) {
	while (size > 0) {
		ssize_t put = write(output->spool, data, size);
		if (put < 0 && errno != EINTR) {
			spool_failed(output, errno);
			return;
		}
		data += put > 0 ? put : 0;
		size -= put > 0 ? (size_t)put : 0;
	}
}

static void output_add(struct program_output *output, const char *data, size_t size) {
	digest_add(&output->digest, data, size);
	if (output->metric)
		program_metric_add(output->metric, data, size);
	if (output->spool >= 0 && output->digest.bytes > PROGRAM_SPOOL_MAX) {
		snprintf(output->failure, sizeof output->failure, "its output exceeds %d MiB, the most that verify gets",
		         PROGRAM_SPOOL_MAX >> 20);
	} else if (output->spool >= 0 && !output->failure[0]) {
		spool_write(output, data, size);
	}
}

/* Untouched pages cost nothing. A limit of the address space may refuse them; then each chunk is looked at at once. */
static void held_open(struct program_output *output) {
	void *all = mmap(NULL, HELD_MOST, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	output->held_room = all == MAP_FAILED ? HELD_LEAST : HELD_MOST;
	output->held = all == MAP_FAILED ? mem_alloc(1, HELD_LEAST) : all;
}

static void held_flush(struct program_output *output) {
	if (output->held_size > 0)
		output_add(output, output->held, output->held_size);
	if (output->held_size > HELD_KEPT)
		madvise(output->held, output->held_room, MADV_DONTNEED);
	output->held_size = 0;
}

ssize_t program_output_read(struct program_output *output, int fd) {
	if (!output->held)
		held_open(output);
	if (output->held_size == output->held_room)
		held_flush(output);
	size_t room = output->held_room - output->held_size;
	ssize_t got = read(fd, output->held + output->held_size, room < HELD_READ ? room : HELD_READ);
	output->held_size += got > 0 ? (size_t)got : 0;
	return got;
}

void program_output_free(struct program_output *output) {
	metric_free(output->metric);
	if (output->held_room == HELD_MOST)
		munmap(output->held, HELD_MOST);
	else
		free(output->held);
	if (output->spool >= 0)
		close(output->spool);
}

bool program_output_end(struct program_output *output, char hash[SHA256_TEXT]) {
	held_flush(output);
	digest_end(&output->digest, hash);
	if (output->metric)
		program_metric_end(output->metric);
	if (output->spool >= 0 && lseek(output->spool, 0, SEEK_SET) != 0)
		spool_failed(output, errno);
	return !output->failure[0];
}

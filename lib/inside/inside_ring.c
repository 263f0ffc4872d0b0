/* SPDX-License-Identifier: BSD-3-Clause */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/inside/inside_impl.h"

struct inside_ring *ssi_ring_open(const char *path) {
	struct stat facts;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
	void *at = MAP_FAILED;
	if (fd < 0)
		return NULL;
	if (fstat(fd, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
	    facts.st_size == sizeof(struct inside_ring))
		at = mmap(NULL, sizeof(struct inside_ring), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	struct inside_ring *ring = at == MAP_FAILED ? NULL : at;
	if (ring && (memcmp(ring->magic, INSIDE_MAGIC, sizeof ring->magic) != 0 || ring->size != sizeof *ring)) {
		munmap(at, sizeof *ring);
		ring = NULL;
	}
	return ring;
}

static void value_write(FILE *out, const struct inside_param *param, const union inside_value *value) {
	fputc(' ', out);
	if (param->type == INSIDE_INT)
		fprintf(out, "%lld", value->integer);
	else if (param->type == INSIDE_REAL)
		fprintf(out, "%.17g", value->real);
	else
		ssi_text_write(out, value->word);
}

static void space_write(FILE *out, const struct sweetspot_context *context) {
	static const char *const types[] = {"int ", "real ", "word "};
	for (uint32_t i = 0; i < context->count; i++) {
		const struct inside_param *param = &context->params[i];
		fputs(types[param->type], out);
		ssi_text_write(out, param->name);
		value_write(out, param, &param->otherwise);
		fputs(" :", out);
		for (uint16_t k = 0; k < param->count; k++)
			value_write(out, param, &param->values[k]);
		fputc('\n', out);
	}
	if (context->needs_another)
		fputs("without-default\n", out);
	for (const struct inside_rule *rule = context->rules; rule; rule = rule->next)
		fprintf(out, "where %s\n", rule->text);
}

/* Fills the text of an entry; false: it does not fit. */
static bool fill(char *to, size_t size, const struct sweetspot_context *context, const struct inside_problem *problem) {
	char *text = NULL;
	size_t length = 0;
	FILE *out = open_memstream(&text, &length);
	if (!out)
		return false;
	if (!problem)
		space_write(out, context);
	for (size_t i = 0; problem && i < problem->count; i++) {
		const struct sweetspot_value *value = &problem->values[i];
		if (i)
			fputc(' ', out);
		ssi_text_write(out, value->name ? value->name : "");
		if (value->word) {
			fputs("='", out);
			ssi_text_write(out, value->word);
		} else {
			fprintf(out, "=%.17g", value->number);
		}
	}
	bool fits = fclose(out) == 0 && text && length < size;
	if (fits)
		memcpy(to, text, length + 1);
	free(text);
	return fits;
}

/* Takes the entry for this process to fill it. */
static bool take(_Atomic uint32_t *there) {
	uint32_t expected = INSIDE_FREE;
	return atomic_compare_exchange_strong(there, &expected, INSIDE_FILLING);
}

static struct inside_cell *cell_find(struct inside_context *entry, const struct inside_problem *problem) {
	for (size_t i = 0; i < INSIDE_CELLS; i++) {
		struct inside_cell *cell = &entry->cells[i];
		if (take(&cell->there)) {
			bool fits = fill(cell->problem, INSIDE_PROBLEM, NULL, problem);
			cell->problem_class = fits ? problem->problem_class : 0;
			atomic_store_explicit(&cell->there, INSIDE_THERE, memory_order_release);
			return fits ? cell : NULL;
		}
		if (atomic_load_explicit(&cell->there, memory_order_acquire) == INSIDE_THERE &&
		    cell->problem_class == problem->problem_class)
			return cell;
	}
	return NULL;
}

static bool is_same(const struct inside_context *entry, const struct sweetspot_context *context) {
	char space[INSIDE_SPACE];
	return atomic_load_explicit(&entry->there, memory_order_acquire) == INSIDE_THERE &&
	       strncmp(entry->kernel, context->kernel, INSIDE_NAME) == 0 && fill(space, sizeof space, context, NULL) &&
	       strncmp(entry->space, space, INSIDE_SPACE) == 0;
}

static struct inside_context *context_find(struct inside_ring *ring, const struct sweetspot_context *context) {
	for (size_t i = 0; i < INSIDE_CONTEXTS && strlen(context->kernel) < INSIDE_NAME; i++) {
		struct inside_context *entry = &ring->contexts[i];
		if (take(&entry->there)) {
			strcpy(entry->kernel, context->kernel);
			entry->params = context->count;
			bool fits = fill(entry->space, INSIDE_SPACE, context, NULL);
			if (!fits)
				entry->kernel[0] = '\0';
			atomic_store_explicit(&entry->there, INSIDE_THERE, memory_order_release);
			return fits ? entry : NULL;
		}
		if (is_same(entry, context))
			return entry;
	}
	return NULL;
}

bool ssi_entry_take(struct inside_ring *ring, struct sweetspot_context *context, const struct inside_problem *problem,
                    struct inside_cell **cell) {
	if (!problem)
		context->shared = context_find(ring, context);
	else if (context->shared)
		*cell = cell_find(context->shared, problem);
	return context->shared && (!problem || *cell);
}

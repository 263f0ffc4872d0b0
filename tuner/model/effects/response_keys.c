/* SPDX-License-Identifier: GPL-3.0-or-later */
#include <config.h>

#include <stdlib.h>

#include "src/base/mem.h"
#include "tuner/model/effects/response_impl.h"

static int by_places(const void *a, const void *b) {
	const struct response_key *x = a, *y = b;
	for (size_t i = 0; i < x->params; i++)
		if (x->places[i] != y->places[i])
			return x->places[i] < y->places[i] ? -1 : 1;
	return 0;
}

struct response_key *response_keys_new(const struct response_data *data) {
	struct response_key *keys = mem_alloc(data->rows + 1, sizeof *keys);
	for (size_t row = 0; row < data->rows; row++)
		keys[row] =
			(struct response_key){.places = data->places + row * data->params, .params = data->params, .row = row};
	qsort(keys, data->rows, sizeof *keys, by_places);
	return keys;
}

size_t response_keys_at(const struct response_key *keys, const struct response_data *data, const int *places,
                        size_t *first) {
	struct response_key key = {.places = places, .params = data->params};
	const struct response_key *found = bsearch(&key, keys, data->rows, sizeof *keys, by_places);
	size_t count = 0;
	if (!found)
		return 0;
	while (found > keys && by_places(found - 1, &key) == 0)
		found--;
	*first = (size_t)(found - keys);
	while (*first + count < data->rows && by_places(found + count, &key) == 0)
		count++;
	return count;
}

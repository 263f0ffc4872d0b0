/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Reads what libsweetspot-mpi has left, which anybody may have written: a file for each rank. */
#include <dirent.h>

#include "base/json/js.h"
#include "base/mem.h"
#include "base/sys.h"
#include "tuner/regions/impl.h"

enum { RANKS_MAX = 4096, FILE_MAX = 16384, NAME_MOST = 32 };
static const double SECONDS_MAX = 1e9;

/* "MPI_Reduce 3 501768264" */
static void call_read(const char *line, json_t *calls, double *sum) {
	char name[NAME_MOST + 1];
	unsigned long long count, ns;
	if (sscanf(line, "MPI_%32[A-Za-z_] %llu %llu", name, &count, &ns) != 3 || (double)ns * 1e-9 > SECONDS_MAX)
		return;
	mem_auto char *whole = mem_printf("MPI_%s", name);
	*sum += (double)ns * 1e-9;
	json_object_set_new(calls, whole,
	                    json_pack("{s:I,s:f}", "calls", (json_int_t)(count & INT64_MAX), "time", (double)ns * 1e-9));
}

/* NULL: not one of ours. */
static json_t *rank_read(char *text, double seconds) {
	long long rank;
	double sum = 0;
	if (sscanf(text, "rank %lld", &rank) != 1 || rank < 0 || rank > INT32_MAX)
		return NULL;
	json_t *calls = json_object();
	for (char *rest = text, *line; (line = strsep(&rest, "\n"));)
		call_read(line, calls, &sum);
	return json_pack("{s:I,s:f,s:o,s:o}", "rank", (json_int_t)rank, "mpi", sum, "share", js_number(sum / seconds),
	                 "calls", calls);
}

static int by_rank(const void *a, const void *b) {
	int64_t x = js_int_or(*(json_t *const *)a, "rank", 0), y = js_int_or(*(json_t *const *)b, "rank", 0);
	return (x > y) - (x < y);
}

json_t *regions_ranks_read(const char *folder, double seconds) {
	json_t **ranks = mem_alloc(RANKS_MAX, sizeof *ranks), *json = json_array();
	size_t count = 0, size;
	DIR *dir = opendir(folder);
	for (struct dirent *entry; dir && count < RANKS_MAX && (entry = readdir(dir));) {
		if (strncmp(entry->d_name, "mpi.", 4) != 0)
			continue;
		mem_auto char *path = mem_printf("%s/%s", folder, entry->d_name),
					  *text = sys_read_file(path, FILE_MAX, &size, NULL);
		json_t *rank = text ? rank_read(text, seconds) : NULL;
		if (rank)
			ranks[count++] = rank;
	}
	if (dir)
		closedir(dir);
	qsort(ranks, count, sizeof *ranks, by_rank);
	for (size_t i = 0; i < count; i++)
		json_array_append_new(json, ranks[i]);
	free(ranks);
	return json;
}

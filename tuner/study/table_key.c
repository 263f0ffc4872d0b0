/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Headers as keys: "Number of threads", "#threads" and "num_threads" are all "threads". */
#include <ctype.h>
#include <strings.h>

#include "tuner/study/study_impl.h"

bool table_among(const char *word, size_t length, const char *words) {
	while (*words) {
		size_t own = strcspn(words, " ");
		if (own == length && strncasecmp(words, word, length) == 0)
			return true;
		words += own + (words[own] == ' ');
	}
	return false;
}

bool table_has_word(const char *text, const char *words) {
	for (const char *at = text; *at;) {
		size_t length = strcspn(at, "_ -./:+");
		if (length && table_among(at, length, words))
			return true;
		at += length + (at[length] != '\0');
	}
	return false;
}

static bool is_key(const char *key, const char *words) {
	return table_among(key, strlen(key), words);
}

/* Lower case, "_" between words, without the unit in brackets at the end. */
void table_words_join(const char *header, char key[TABLE_NAME]) {
	size_t length = 0, end = strcspn(header, "([");
	for (size_t i = 0; header[i] && (i < end || end == 0) && length + 1 < TABLE_NAME; i++) {
		unsigned char c = (unsigned char)header[i];
		if (isalnum(c) || c >= 0x80)
			key[length++] = (char)tolower(c);
		else if (length && key[length - 1] != '_')
			key[length++] = '_';
	}
	while (length && key[length - 1] == '_')
		length--;
	key[length] = '\0';
}

void table_key(const char *header, char key[TABLE_NAME]) {
	static const char *const before[] = {"total_number_of_",
	                                     "total_",
	                                     "number_of_",
	                                     "count_of_",
	                                     "no_of_",
	                                     "nr_of_",
	                                     "n_of_",
	                                     "omp_num_",
	                                     "num_",
	                                     "nb_",
	                                     "nr_",
	                                     "no_",
	                                     "omp_",
	                                     "n_",
	                                     "the_"};
	static const char *const behind[] = {"_count", "_number", "_used", "_n", "_name"};
	table_words_join(header, key);
	for (size_t i = 0; i < sizeof before / sizeof *before; i++) {
		size_t length = strlen(before[i]);
		if (strncmp(key, before[i], length) == 0 && key[length])
			memmove(key, key + length, strlen(key + length) + 1);
	}
	for (size_t i = 0; i < sizeof behind / sizeof *behind; i++) {
		size_t length = strlen(key), own = strlen(behind[i]);
		if (length > own && strcmp(key + length - own, behind[i]) == 0)
			key[length - own] = '\0';
	}
}

/* "matrix_size" is an input; the size of a block is chosen. */
static bool is_size_of_input(const char *key) {
	static const char chosen[] =
		"block tile chunk thread threads page cache line unroll group warp workgroup work local batch task tasks grain "
		"segment stripe pad padding step pool packet buffer shared cutoff register leaf team simd stride blocks tiles "
		"chunks slice window prefetch queue grid world";
	const char *last = strrchr(key, '_');
	if (strncmp(key, "size_", 5) == 0) /* "Tamanho do vetor" */
		return !table_among(key + 5, strcspn(key + 5, "_"), chosen);
	return last &&
	       table_among(last + 1, strlen(last + 1),
	                   "size sizes length len dim dims dimension dimensions width height") &&
	       !table_among(key, strcspn(key, "_"), chosen);
}

/* "array_kib" is an array. */
static void unit_cut(char *key) {
	static const char *const units[] = {"_bytes", "_kib", "_kb", "_mib", "_mb", "_gib", "_gb"};
	for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
		size_t length = strlen(key), own = strlen(units[i]);
		if (length > own && strcmp(key + length - own, units[i]) == 0)
			key[length - own] = '\0';
	}
}

bool table_is_problem(const char *header) {
	char key[TABLE_NAME];
	table_words_join(header, key);
	if (table_has_word(key, "register registers regs avg average mean"))
		return false;
	if (strchr(header, '%') &&
	    table_has_word(key, "update updates read reads write writes insert inserts lookup lookups"))
		return true; /* the mix of operations */
	if (strstr(key, "_per_") && !strstr(key, "_s_per_") &&
	    !table_among(key, strcspn(key, "_"),
	                 "time runtime thread threads task tasks rank ranks process processes core cores") &&
	    is_key(strstr(key, "_per_") + 5, "rank process proc thread core node gpu processor"))
		return true;
	const char *last = strrchr(key, '_');
	if ((last && strcmp(last, "_bytes") == 0 &&
	     table_among(key, (size_t)(last - key), "message msg size transfer data array payload input file")) ||
	    is_key(key, "ntot n_tot ntotal n_total total_n nmax n_max"))
		return true;
	table_key(header, key);
	unit_cut(key);
	if (key[1] == '_' && strchr("kmdv", *key)) /* "k_clusters" */
		memmove(key, key + 2, strlen(key + 2) + 1);
	last = strrchr(key, '_');
	return is_key(key, "nsteps niters nelements nelem nbodies nparticles npart ncells nrows ncols") ||
	       table_has_word(key, "held hold holding") || is_size_of_input(key) ||
	       (last && is_key(last + 1, "grid mesh domain work")) ||
	       is_key(key,
	              "n m k size sizes problem problem_size input_size data_size array_size matrix_size vector_size "
	              "contention list_size grid_size mesh_size image_size nx ny nz length len elements points objects "
	              "coords coordinates dims dim dimension dimensions clusters centers loops generations steps timesteps "
	              "nnz rows cols columns vertices edges graph matrix input dataset data image file mix workload phase "
	              "stage part component function test test_case experiment population numpoints npoints data_points "
	              "contains add remove insert delete lookup search reads writes read_ratio write_ratio update_ratio "
	              "read_fraction write_fraction update_fraction updates op ops operations operation key_range keys "
	              "range acquires density degree scale width height depth resolution message_size bytes particles "
	              "bodies cells queries batch instance benchmark distribution kernel_size samples_n grid mesh domain "
	              "bins buckets array vector list string text words numbers items elems pixels features nodes_in_graph "
	              "graph_nodes "
	              "problem_dimension read write read_percent write_percent reads_percent read_share update_percent "
	              "updates_percent load_factor key_size payload payloads prompt prompts context sequence tokens "
	              "value_size samples limit matrices intervals rectangles tosses darts working_set footprint kb kib mb "
	              "mib gb gib frames circuit query family candidates scene scenario theta skew section accounts "
	              "triangles planets bids rays photons atoms molecules agents ants cities qubits walkers paths "
	              "simulations documents files pictures photos images records tuples events packets spp");
}

bool table_is_parameter(const char *header) {
	char key[TABLE_NAME];
	table_key(header, key);
	return table_is_threads(header) || (is_key(key, "sm") && strcasestr(header, "count")) ||
	       is_key(key,
	              "cores proc procs processes ranks world_size comm_size np nproc nprocs nranks ntasks tasks nodes "
	              "variant version "
	              "implementation impl approach strategy solution technique "
	              "code algorithm method lock sync "
	              "schedule chunk block block_size tile tile_size pad padding layout places proc_bind binding affinity "
	              "pages first_touch calloc alloc allocation sms gpus gpu devices streams unroll stride compiler flags "
	              "opt "
	              "optimization cutoff threshold grain grainsize grain_size task_size chunk_size "
	              "batch_size batchsize threads_per_block");
}

bool table_is_threads(const char *header) {
	char key[TABLE_NAME];
	table_key(header, key);
	return is_key(
		key,
		"threads thread nthreads nthread threadcount omp_num_threads cores core ncores cpu_cores cpus "
		"threads_openmp threads_omp ncpus cpus_per_task processors workers worker nworkers worker_threads cpu_threads "
		"openmp_threads gomaxprocs goroutines threads_per_socket threads_per_node threads_per_process "
		"threads_per_rank");
}

bool table_is_count(const char *header) {
	char key[TABLE_NAME];
	table_key(header, key);
	return is_key(key, "iterations iteration iters iter rounds sweeps passes steps loops epochs epoch");
}

bool table_is_team(const char *header) {
	char key[TABLE_NAME];
	table_key(header, key);
	return table_is_threads(header) || is_key(key, "world_size comm_size") ||
	       table_has_word(key, "ranks processes proc procs np nproc nprocs nranks ntasks tasks gpus devices");
}

const char *table_bracket(const char *text) {
	const char *open = strpbrk(text, "([");
	while (open && open > text && isalnum((unsigned char)open[-1]) && open[strcspn(open, ")]")] &&
	       isalnum((unsigned char)open[strcspn(open, ")]") + 1]))
		open = strpbrk(open + 1, "([");
	return open;
}

/* "Serial", "Sequential (baseline)", "single-threaded" and "1 (serial)". */
bool table_is_serial(const char *cell) {
	char word[TABLE_NAME], copy[CSV_FIELD_MAX + 1];
	snprintf(copy, sizeof copy, "%s", strncmp(cell, "1 (", 3) == 0 ? cell + 3 : cell);
	copy[strcspn(copy, "()")] = '\0';
	while (*copy && copy[strlen(copy) - 1] == ' ')
		copy[strlen(copy) - 1] = '\0';
	table_translate(copy, word);
	return table_among(word, strlen(word), table_serial_words) || strncasecmp(word, "single-thread", 13) == 0 ||
	       strncasecmp(word, "single thread", 13) == 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A sort that chooses below which length it inserts: cc -O2 sort.c -lsweetspot -lm && sweetspot tune -- ./a.out
 * [LENGTH] [STEPS] Insertion is quadratic: with the default of 256 it does most of the work. The best is between 8 and
 * 32, whatever the length. With a third argument the numbers are sorted already from the middle of the run on, where
 * the default is the best: the optimum drifts. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sweetspot.h>

static void insert(int *numbers, size_t count) {
	for (size_t i = 1; i < count; i++) {
		int number = numbers[i];
		size_t k = i;
		for (; k > 0 && numbers[k - 1] > number; k--)
			numbers[k] = numbers[k - 1];
		numbers[k] = number;
	}
}

static void merge_sort(int *numbers, int *spare, size_t count, size_t cutoff) {
	size_t half = count / 2, a = 0, b = half;
	if (count <= cutoff || count < 2) {
		insert(numbers, count);
		return;
	}
	merge_sort(numbers, spare, half, cutoff);
	merge_sort(numbers + half, spare, count - half, cutoff);
	for (size_t i = 0; i < count; i++)
		spare[i] = b == count || (a < half && numbers[a] <= numbers[b]) ? numbers[a++] : numbers[b++];
	for (size_t i = 0; i < count; i++)
		numbers[i] = spare[i];
}

int main(int argc, char **argv) {
	static const long long cutoffs[] = {1, 8, 16, 32, 64, 128, 256, 512, 1024};
	size_t length = argc > 1 ? strtoul(argv[1], NULL, 10) : 4096;
	int steps = argc > 2 ? atoi(argv[2]) : 1500;
	int *numbers = calloc(length + 1, sizeof *numbers), *spare = calloc(length + 1, sizeof *spare);
	unsigned random = 1;
	if (!numbers || !spare)
		return 1;
	sweetspot_context *context = sweetspot_context_open("sort");
	sweetspot_context_int(context, "cutoff", cutoffs, 9, 256);
	for (int i = 0; i < steps; i++) {
		struct sweetspot_value n = {"length", (double)length, NULL};
		struct sweetspot_choice choice;
		for (size_t k = 0; k < length && !(argc > 3 && i > steps / 2); k++)
			numbers[k] = (int)((random = random * 1664525 + 1013904223) >> 8);
		sweetspot_choose(context, &n, 1, &choice);
		merge_sort(numbers, spare, length, (size_t)sweetspot_chosen_int(&choice, "cutoff"));
		sweetspot_report(&choice, NAN);
	}
	printf("%d\n", numbers[length / 2]);
	return 0;
}

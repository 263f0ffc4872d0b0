/* SPDX-License-Identifier: BSD-3-Clause */
/* A template, included once for each instruction set. Before it: TILE_NAME(word), TILE_TARGET (a function attribute or
 * nothing), TILE_BYTES (in a vector).
 *
 * Cells in bits are counted with carry-save adders (Knuth, The Art of Computer Programming 4A, section 7.1.3): the sum
 * of three cells along a row is a low and a high bit, and serves the rows above and below too. With its own cell, a
 * cell lives on at 3, or at 4 if it is alive. Functions may write and read on to the end of the last vector of a row.
 */
#define TILE_WORDS  (TILE_BYTES / 8)
#define TILE_INLINE TILE_TARGET __attribute__((always_inline)) static inline
typedef uint64_t TILE_NAME(bits) __attribute__((vector_size(TILE_BYTES), aligned(8), may_alias));
typedef uint8_t TILE_NAME(cells) __attribute__((vector_size(TILE_BYTES), aligned(1), may_alias));

struct TILE_NAME(sum) {
	TILE_NAME(bits) cell, low, high;
};

TILE_INLINE struct TILE_NAME(sum) TILE_NAME(sum)(const uint64_t *at) {
	TILE_NAME(bits) cell = *(const TILE_NAME(bits) *)at;
	TILE_NAME(bits) left = cell << 1 | *(const TILE_NAME(bits) *)(at - 1) >> 63;
	TILE_NAME(bits) right = cell >> 1 | *(const TILE_NAME(bits) *)(at + 1) << 63;
	TILE_NAME(bits) sides = left ^ right;
	return (struct TILE_NAME(sum)){cell, sides ^ cell, (left & right) | (cell & sides)};
}

/* Compares two rows: low and high bits that differ, and those that are both set. */
struct TILE_NAME(pair) {
	TILE_NAME(bits) low, high, low_both, high_both;
};

TILE_INLINE struct TILE_NAME(pair) TILE_NAME(pair)(struct TILE_NAME(sum) a, struct TILE_NAME(sum) b) {
	return (struct TILE_NAME(pair)){a.low ^ b.low, a.high ^ b.high, a.low & b.low, a.high & b.high};
}

/* All nine cells: ones + 2 (carry + twos) + 4 fours. It is 3 if ones and carry ^ twos are set and fours is not, and
 * 4 if neither is set and either fours or both of carry and twos are. */
TILE_INLINE TILE_NAME(bits)
	TILE_NAME(next)(TILE_NAME(bits) cell, struct TILE_NAME(pair) two, struct TILE_NAME(sum) third) {
	TILE_NAME(bits) ones = two.low ^ third.low, carry = two.low_both | (two.low & third.low);
	TILE_NAME(bits) twos = two.high ^ third.high, fours = two.high_both | (two.high & third.high);
	return ~(ones ^ twos ^ carry) & (cell | ones) & (fours ^ (carry | twos));
}

TILE_INLINE void TILE_NAME(keep)(struct gol_sums *sums, size_t word, struct TILE_NAME(sum) sum) {
	*(TILE_NAME(bits) *)&sums->low[word] = sum.low;
	*(TILE_NAME(bits) *)&sums->high[word] = sum.high;
}

TILE_INLINE struct TILE_NAME(sum) TILE_NAME(kept)(const struct gol_sums *sums, size_t word) {
	return (struct TILE_NAME(sum)){.low = *(const TILE_NAME(bits) *)&sums->low[word],
	                               .high = *(const TILE_NAME(bits) *)&sums->high[word]};
}

/* Row after row, in the order of memory: the sums of the last two rows are kept for their whole length. */
TILE_TARGET static void TILE_NAME(rows)(const uint64_t *src, uint64_t *dst, size_t stride, size_t rows, size_t words) {
	struct gol_sums sums[2], *above = &sums[0], *same = &sums[1];
	for (size_t word = 0; word < words; word += TILE_WORDS) {
		TILE_NAME(keep)(above, word, TILE_NAME(sum)(src - stride + word));
		TILE_NAME(keep)(same, word, TILE_NAME(sum)(src + word));
	}
	for (size_t row = 0; row < rows; row++, src += stride, dst += stride) {
		struct gol_sums *below = above;
		for (size_t word = 0; word < words; word += TILE_WORDS) {
			struct TILE_NAME(sum) third = TILE_NAME(sum)(src + stride + word);
			struct TILE_NAME(pair) two = TILE_NAME(pair)(TILE_NAME(kept)(above, word), TILE_NAME(kept)(same, word));
			*(TILE_NAME(bits) *)(dst + word) = TILE_NAME(next)(*(const TILE_NAME(bits) *)(src + word), two, third);
			TILE_NAME(keep)(below, word, third);
		}
		above = same;
		same = below;
	}
}

/* One vector wide, down an even number of rows, with the sums in registers. Pairs of rows share the sum between
 * them. `kept` has the sums of the two rows before src, and gets those of the last two. Row 0 of dst is the next
 * generation of the row before src. */
TILE_INLINE void TILE_NAME(slide_column)(TILE_NAME(bits) * kept, const uint64_t *src, uint64_t *dst, size_t stride,
                                         size_t rows) {
	struct TILE_NAME(sum) first = {.low = kept[0], .high = kept[1]}, second = {kept[2], kept[3], kept[4]};
	for (; rows > 1; rows -= 2, src += 2 * stride, dst += 2 * stride) {
		struct TILE_NAME(sum) third = TILE_NAME(sum)(src), fourth = TILE_NAME(sum)(src + stride);
		struct TILE_NAME(pair) two = TILE_NAME(pair)(second, third);
		*(TILE_NAME(bits) *)dst = TILE_NAME(next)(second.cell, two, first);
		*(TILE_NAME(bits) *)(dst + stride) = TILE_NAME(next)(third.cell, two, fourth);
		first = third;
		second = fourth;
	}
	kept[0] = first.low;
	kept[1] = first.high;
	kept[2] = second.cell;
	kept[3] = second.low;
	kept[4] = second.high;
}

TILE_TARGET static void TILE_NAME(slide)(uint64_t *kept, const uint64_t *src, uint64_t *dst, size_t stride, size_t rows,
                                         size_t words) {
	for (size_t word = 0; word < words; word += TILE_WORDS)
		TILE_NAME(slide_column)((TILE_NAME(bits) *)(kept + GOL_KEPT * word), src + word, dst + word, stride, rows);
}

TILE_INLINE TILE_NAME(cells) TILE_NAME(sum_bytes)(const uint8_t *at) {
	return *(const TILE_NAME(cells) *)(at - 1) + *(const TILE_NAME(cells) *)at + *(const TILE_NAME(cells) *)(at + 1);
}

/* Bytes: 3 neighbours, or 2 and alive: exactly then neighbours | alive is 3. */
TILE_INLINE void TILE_NAME(column_bytes)(const uint8_t *src, uint8_t *dst, size_t stride, size_t rows) {
	TILE_NAME(cells) above = TILE_NAME(sum_bytes)(src - stride), same = TILE_NAME(sum_bytes)(src);
	for (; rows > 0; rows--, src += stride, dst += stride) {
		TILE_NAME(cells) below = TILE_NAME(sum_bytes)(src + stride), cell = *(const TILE_NAME(cells) *)src;
		TILE_NAME(cells) neighbours = above + same + below - cell;
		*(TILE_NAME(cells) *)dst = (TILE_NAME(cells))((neighbours | cell) == 3) & 1;
		above = same;
		same = below;
	}
}

TILE_TARGET static void TILE_NAME(bytes)(const uint8_t *src, uint8_t *dst, size_t stride, size_t rows, size_t n) {
	for (size_t i = 0; i < n; i += TILE_BYTES)
		TILE_NAME(column_bytes)(src + i, dst + i, stride, rows);
}

#undef TILE_WORDS
#undef TILE_INLINE
#undef TILE_NAME
#undef TILE_TARGET
#undef TILE_BYTES

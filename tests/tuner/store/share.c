/* SPDX-License-Identifier: GPL-3.0-or-later */
/* Lists of searches that were changed after they were exported, under a hash that fits. */
#include <config.h>

#include "tests/mutate.h"

#define SEARCH(trials)                                                                                                 \
	"[{\"kernel\":\"k\",\"source\":null,\"problem\":{\"n\":1},\"objective\":\"time\",\"strategy\":\"auto\","           \
	"\"seed\":9223372036854775807,\"valid\":4,\"started\":1.5,\"fingerprint\":\"sha256:1\",\"machine\":{\"cpu\":"      \
	"\"c\"},\"trials\":[" trials "]}]"
#define TRIAL                                                                                                          \
	"{\"config\":{\"a\":1,\"b\":\"x\"},\"status\":\"correct\",\"value\":0.5,\"samples\":[0.5,1],\"elapsed_s\":1}"

int main(void) {
	static const char letters[] = "0123456789-+e.\"{}[]:,\\ntru ";
	mutate_all(SEARCH(""), sizeof SEARCH("") - 1, letters, 1500);
	mutate_all(SEARCH(TRIAL), sizeof SEARCH(TRIAL) - 1, letters, 1500);
	return tap_done();
}

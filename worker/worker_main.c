/* SPDX-License-Identifier: BSD-3-Clause */
#include "worker/worker_impl.h"

int main(int argc, char **argv) {
	return cli_main(argc, argv);
}

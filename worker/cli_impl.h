/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's modes: the protocol on stdin and stdout, or one operation from the command line. */
#ifndef WORKER_CLI_IMPL_H
#define WORKER_CLI_IMPL_H

/* The whole program; returns its exit status. */
int cli_main(int argc, char **argv);
#endif

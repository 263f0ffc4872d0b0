/* SPDX-License-Identifier: BSD-3-Clause */
/* The worker's modes: the protocol on stdin and stdout, or one operation from the command line. */
#pragma once

/* The whole program; returns its exit status. */
int cli_main(int argc, char **argv);

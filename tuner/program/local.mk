# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/environment.c %D%/environment.h %D%/command.c %D%/copied.c %D%/evident.c %D%/first_error.c \
	%D%/program_impl.h %D%/inputs.c %D%/program_json.c %D%/kept.c %D%/kept.h %D%/kokkos_seen.c %D%/kokkos_seen.h %D%/program.c %D%/program.h %D%/quote.c \
	%D%/recorded.c %D%/recorded.h %D%/service.c %D%/run.c %D%/program_shell.c %D%/source.c %D%/source.h %D%/command.h %D%/program_text.c \
	%D%/program_tree.c %D%/program_trial.c

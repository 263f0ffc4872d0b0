# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/environment.c %D%/environment.h %D%/governed.c %D%/gpu.c %D%/build.c %D%/build.h %D%/check.c %D%/command.c %D%/copied.c %D%/counters.c %D%/evident.c %D%/evident.h %D%/first_error.c %D%/first_error.h \
	%D%/identity.c %D%/impl.h %D%/inputs.c %D%/inputs.h %D%/json.c %D%/kept.c %D%/kept.h %D%/line.c %D%/program.c %D%/program.h %D%/quote.c \
	%D%/recorded.c %D%/recorded.h %D%/run.c %D%/run.h %D%/shell.c %D%/shell.h %D%/source.c %D%/source.h %D%/template.c %D%/template.h %D%/text.c %D%/text.h \
	%D%/tree.c %D%/tree.h %D%/tree_mark.c %D%/trial.c

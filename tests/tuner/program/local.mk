# SPDX-License-Identifier: GPL-3.0-or-later
check_PROGRAMS += %D%/words %D%/tree %D%/runner %D%/build %D%/lies
TESTS += %D%/words %D%/tree %D%/build %D%/lies
slow_tests += %D%/runner
%C%_words_SOURCES = %D%/words.c
%C%_words_LDADD = libtuner.la libbase.la
%C%_tree_SOURCES = %D%/tree.c
%C%_tree_LDADD = libtuner.la libbase.la
%C%_runner_SOURCES = %D%/runner.c %D%/help.h
%C%_runner_LDADD = libtuner.la libbase.la
%C%_build_SOURCES = %D%/build.c %D%/help.h
%C%_build_LDADD = libtuner.la libbase.la
%C%_lies_SOURCES = %D%/lies.c %D%/help.h
%C%_lies_LDADD = libtuner.la libbase.la
EXTRA_DIST += %D%/liar

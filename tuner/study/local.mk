# SPDX-License-Identifier: GPL-3.0-or-later
libtuner_la_SOURCES += %D%/follows.c %D%/follows.h \
	%D%/study.c %D%/study_columns.c %D%/study.h %D%/study_impl.h \
 %D%/contrast.c %D%/contrast.h \
	%D%/study_table.c %D%/table_text.c %D%/table_text_impl.h %D%/table_form.c %D%/table_lines.c %D%/table_log.c %D%/table_said.c %D%/table_said_impl.h %D%/table_sections.c %D%/producer.c %D%/producers.def %D%/producer_json.c %D%/producer_text.c %D%/table_cells.c %D%/table_labels.c %D%/table_nameless.c %D%/table_ratios.c %D%/table_units.c %D%/cell_number.c %D%/table_roles.c %D%/table_value.c %D%/table_follow.c %D%/table_derive.c %D%/table_numbers.c %D%/table_rows.c %D%/table_words.c %D%/table_key.c %D%/table_translate.c %D%/table_device.c %D%/table_wide.c %D%/wide_kinds.c %D%/wide_laws.c %D%/wide_long.c %D%/wide_numbered.c %D%/wide_words.c %D%/study_machine.c \
 %D%/study_set.c %D%/study_set_file.c

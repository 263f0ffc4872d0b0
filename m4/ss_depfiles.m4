# SPDX-License-Identifier: GPL-3.0-or-later
# SS_DEPFILES, before AM_INIT_AUTOMAKE: writes the empty files of dependencies that the Makefile includes. Automake's command
# `depfiles`, which follows, starts three programs for each that is missing, and there are over a thousand.
AC_DEFUN([SS_DEPFILES],[
  AC_CONFIG_COMMANDS([empty-depfiles],[
    AS_IF([test -z "$AMDEP_TRUE"],[
      ss_files=`$SED -n ['/^am__depfiles_remade =/,/[^\\]$/{s/^.*=//;s/\\\\$//;s/[$](DEPDIR)/'"$DEPDIR"'/g;p;}'] Makefile`
      AS_ECHO(["$ss_files"]) | tr ' \t' '\n\n' | $SED -n 's,/[[^/]]*$,,p' | sort -u | xargs mkdir -p
      for ss_file in $ss_files; do
        test -e "$ss_file" || echo '# dummy' >"$ss_file"
      done
    ])
  ],[AMDEP_TRUE='$AMDEP_TRUE' DEPDIR='$DEPDIR' SED='$SED'])
])

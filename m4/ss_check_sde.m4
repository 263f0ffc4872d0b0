# SPDX-License-Identifier: GPL-3.0-or-later
# SS_CHECK_SDE: libsde of PAPI, for software-defined events. It comes with PAPI and has no .pc file of its own. Sets SDE_LIBS
# and HAVE_SDE, ss_sde_summary for the closing table.
AC_DEFUN([SS_CHECK_SDE],[
  ss_have_sde=no
  ss_sde_summary="no (it comes with PAPI)"
  AS_IF([test "x$ss_have_papi" = xyes],[
    ss_save_CPPFLAGS=$CPPFLAGS ss_save_LIBS=$LIBS
    CPPFLAGS="$CPPFLAGS $PAPI_CFLAGS" LIBS="-lsde $PAPI_LIBS $LIBS"
    AC_MSG_CHECKING([for libsde])
    AC_LINK_IFELSE([AC_LANG_PROGRAM([[#include <sde_lib.h>]],[[return !papi_sde_init("conftest");]])],[ss_have_sde=yes])
    AC_MSG_RESULT([$ss_have_sde])
    CPPFLAGS=$ss_save_CPPFLAGS LIBS=$ss_save_LIBS
    AS_IF([test $ss_have_sde = yes],
      [AC_SUBST([SDE_LIBS],[-lsde])
       AC_DEFINE([HAVE_SDE],[1],[libsde of PAPI])
       ss_sde_summary=yes],
      [ss_sde_summary="no (PAPI is there, but sde_lib.h or libsde is not: PAPI before 7.0, or built without it)"])])
  AM_CONDITIONAL([HAVE_SDE],[test $ss_have_sde = yes])
])

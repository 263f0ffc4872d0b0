# SPDX-License-Identifier: GPL-3.0-or-later
# SS_PKG_LINKS(NAME, [IF-SO], [IF-NOT]): does a program link with what pkg-config says? A cross-compiler finds the libraries of
# the machine that builds.
AC_DEFUN([SS_PKG_LINKS],[
  ss_save_LIBS=$LIBS
  LIBS="[$]m4_toupper([$1])_LIBS $LIBS"
  AC_CACHE_CHECK([whether a program links with $1],[ss_cv_links_$1],
    [AC_LINK_IFELSE([AC_LANG_PROGRAM()],[ss_cv_links_$1=yes],[ss_cv_links_$1=no])])
  LIBS=$ss_save_LIBS
  AS_IF([test "x$ss_cv_links_$1" = xyes],[$2],[$3])
])

# SS_WITH_PKG(NAME, PKG-SPEC, WHAT, [DEBIAN-PACKAGE])
# --with-NAME=yes|no|auto: auto takes the package where pkg-config finds it, yes fails where it does not.
# Sets NAME_CFLAGS and NAME_LIBS, HAVE_NAME in config.h and Automake, ss_NAME_summary for the closing table.
AC_DEFUN([SS_WITH_PKG],[
  AC_ARG_WITH([$1],[AS_HELP_STRING([--with-$1@<:@=yes|no|auto@:>@],[$3 @<:@auto@:>@])],[],[with_$1=auto])
  AS_CASE([$with_$1],[yes|no|auto],[],[AC_MSG_ERROR([--with-$1 takes yes, no or auto, not "$with_$1"])])
  ss_have_$1=no
  AS_IF([test "x$with_$1" = xno],[ss_$1_summary="no (disabled by --with-$1=no)"],
    [PKG_CHECK_MODULES(m4_toupper([$1]),[$2],[SS_PKG_LINKS([$1],[ss_have_$1=yes],
      [AS_IF([test "x$with_$1" = xyes],[AC_MSG_ERROR([--with-$1=yes, but a program does not link with [$]m4_toupper([$1])_LIBS])])
       ss_$1_summary="no (pkg-config finds it, but a program does not link with it)"])],
      [AS_IF([test "x$with_$1" = xyes],
         [AC_MSG_ERROR([--with-$1=yes, but pkg-config does not find $2 (Debian: apt-get install $4)])])
       ss_$1_summary="no (pkg-config does not find $2; Debian: $4)"])
     AS_IF([test "x$ss_have_$1" = xyes],
      [ss_$1_summary="yes (`$PKG_CONFIG --modversion "m4_car(m4_unquote(m4_split([$2])))" 2>/dev/null`)"
       AC_DEFINE([HAVE_]m4_toupper([$1]),[1],[$3])])])
  AM_CONDITIONAL([HAVE_]m4_toupper([$1]),[test "x$ss_have_$1" = xyes])
])

# SS_REQUIRE_PKG(NAME, PKG-SPEC, DEBIAN-PACKAGE): stops where it is missing.
AC_DEFUN([SS_REQUIRE_PKG],[
  PKG_CHECK_MODULES(m4_toupper([$1]),[$2],
    [SS_PKG_LINKS([$1],[],[AC_MSG_ERROR([pkg-config finds $2, but a program does not link with it: set PKG_CONFIG_LIBDIR to the target's folder])])],
    [AC_MSG_ERROR([$2 is required and pkg-config does not find it (Debian: apt-get install $3)])])
])

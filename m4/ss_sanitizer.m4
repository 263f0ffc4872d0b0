# SPDX-License-Identifier: GPL-3.0-or-later
# SS_SANITIZER: --enable-asan, --enable-ubsan, --enable-tsan. Flags land in SANITIZER_FLAGS.
AC_DEFUN([SS_SANITIZER_ONE],[
  AC_ARG_ENABLE([$1],[AS_HELP_STRING([--enable-$1],[build with -fsanitize=$2])],[],[enable_$1=no])
  AS_IF([test "x$enable_$1" = xyes],[
    ss_save_CFLAGS=$CFLAGS
    CFLAGS="$CFLAGS -fsanitize=$2"
    AC_LINK_IFELSE([AC_LANG_PROGRAM()],[],[AC_MSG_ERROR([--enable-$1: $CC can't link with -fsanitize=$2])])
    CFLAGS=$ss_save_CFLAGS
    SANITIZER_FLAGS="$SANITIZER_FLAGS -fsanitize=$2 -fno-omit-frame-pointer $3"
    ss_sanitizers="${ss_sanitizers:+$ss_sanitizers }$2"])
])
AC_DEFUN([SS_SANITIZER],[
  SS_SANITIZER_ONE([asan],[address],[])
  SS_SANITIZER_ONE([ubsan],[undefined],[-fno-sanitize-recover=undefined])
  SS_SANITIZER_ONE([tsan],[thread],[])
  AS_IF([test "$enable_asan:$enable_tsan" = yes:yes],[AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])
  AC_SUBST([SANITIZER_FLAGS])
  AS_IF([test -n "$ss_sanitizers"],[AC_DEFINE([SS_SANITIZED],[1],[built with a sanitizer: no address-space limit for workers])])
])

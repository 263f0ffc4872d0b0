# SPDX-License-Identifier: GPL-3.0-or-later
# SS_CHECK_CUDA: headers only. The libraries are opened at run time, so one binary serves hosts with and without a GPU.
AC_DEFUN([SS_CHECK_CUDA],[
  AC_ARG_WITH([cuda],[AS_HELP_STRING([--with-cuda@<:@=yes|no|auto@:>@],[CUDA driver headers, for GPU kernels @<:@auto@:>@])],[],[with_cuda=auto])
  AC_ARG_VAR([CUDA_HOME],[where the CUDA toolkit is, /usr/local/cuda if not set])
  AS_CASE([$with_cuda],[yes|no|auto],[],[AC_MSG_ERROR([--with-cuda takes yes, no or auto, not "$with_cuda"; name the directory in CUDA_HOME])])
  ss_have_cuda=no
  AS_IF([test "x$with_cuda" = xno],[ss_cuda_summary="no (disabled by --with-cuda=no)"],[
    ss_cuda_root=${CUDA_HOME:-/usr/local/cuda}
    ss_save_CPPFLAGS=$CPPFLAGS
    CPPFLAGS="$CPPFLAGS -I$ss_cuda_root/include"
    AC_CHECK_HEADER([cuda.h],[ss_have_cuda=yes])
    CPPFLAGS=$ss_save_CPPFLAGS
    AS_IF([test $ss_have_cuda = yes],
      [AC_SUBST([CUDA_CPPFLAGS],["-I$ss_cuda_root/include"])
       AC_DEFINE([HAVE_CUDA],[1],[CUDA driver headers])
       ss_cuda_summary="yes (headers in $ss_cuda_root/include; libraries are opened at run time)"],
      [AS_IF([test "x$with_cuda" = xyes],[AC_MSG_ERROR([--with-cuda=yes, but there is no cuda.h in $ss_cuda_root/include (set CUDA_HOME)])])
       ss_cuda_summary="no (no cuda.h in $ss_cuda_root/include; set CUDA_HOME)"])])
  AM_CONDITIONAL([HAVE_CUDA],[test $ss_have_cuda = yes])
])

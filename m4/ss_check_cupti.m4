# SPDX-License-Identifier: GPL-3.0-or-later
# SS_CHECK_CUPTI: headers of CUPTI with its range profiler (CUDA 12.6 and newer); the library is opened at run time. After
# SS_CHECK_CUDA. Sets CUPTI_CPPFLAGS and HAVE_CUPTI, ss_cupti_summary for the closing table. counters/compat stands in for a
# header of C++ that one of CUDA 13.0's headers includes.
AC_DEFUN([SS_CHECK_CUPTI],[
  ss_have_cupti=no
  ss_cuda_root=${CUDA_HOME:-/usr/local/cuda}
  AS_IF([test "x$ss_have_cuda" != xyes],[ss_cupti_summary="no (CUDA: $ss_cuda_summary)"],[
    ss_save_CPPFLAGS=$CPPFLAGS
    ss_cupti_flags="-I$ss_cuda_root/include -I$ss_cuda_root/extras/CUPTI/include -idirafter $(cd "$srcdir" && pwd)/counters/compat"
    CPPFLAGS="$CPPFLAGS $ss_cupti_flags"
    AC_CHECK_HEADER([cupti_range_profiler.h],[AC_CHECK_HEADER([cupti_profiler_host.h],[ss_have_cupti=yes])])
    CPPFLAGS=$ss_save_CPPFLAGS
    AS_IF([test $ss_have_cupti = yes],
      [AC_SUBST([CUPTI_CPPFLAGS],[$ss_cupti_flags])
       AC_DEFINE([HAVE_CUPTI],[1],[CUPTI's headers])
       AC_DEFINE_UNQUOTED([SS_CUDA_ROOT],["$ss_cuda_root"],[the CUDA toolkit of this build])
       ss_cupti_summary="yes (headers in $ss_cuda_root; the library is opened at run time)"],
      [ss_cupti_summary="no (no cupti_range_profiler.h of CUDA 12.6 or newer in $ss_cuda_root)"])])
  AM_CONDITIONAL([HAVE_CUPTI],[test $ss_have_cupti = yes])
])

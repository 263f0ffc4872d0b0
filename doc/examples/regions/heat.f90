! SPDX-License-Identifier: BSD-3-Clause
! Heat that spreads along a rod, with a region. No module and no interface is needed.
program heat
  implicit none
  integer, parameter :: n = 100000, steps = 200
  real(8) :: a(n), b(n)
  integer :: step, i
  external :: sweetspot_begin, sweetspot_end
  a = 0
  b = 0
  a(1) = 100
  b(1) = 100
  do step = 1, steps
     call sweetspot_begin('sweep')
     do i = 2, n - 1
        b(i) = (a(i - 1) + a(i + 1)) / 2
     end do
     a(2:n - 1) = b(2:n - 1)
     call sweetspot_end('sweep')
  end do
  print *, 'sum', sum(a)
end program heat

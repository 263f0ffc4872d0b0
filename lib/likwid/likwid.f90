! SPDX-License-Identifier: BSD-3-Clause
! The calls of LIKWID's marker API as regions of Sweetspot, for `use likwid`: compile it after sweetspot.f90. Installed as
! include/sweetspot/likwid.f90. A program cannot read the counts of its own regions.
module likwid
  use sweetspot, only: sweetspot_region_begin, sweetspot_region_end
  implicit none
  private
  public :: likwid_markerInit, likwid_markerThreadInit, likwid_markerNextGroup, likwid_markerClose
  public :: likwid_markerRegisterRegion, likwid_markerResetRegion, likwid_markerStartRegion, likwid_markerStopRegion

contains

  subroutine likwid_markerInit()
  end subroutine likwid_markerInit

  subroutine likwid_markerThreadInit()
  end subroutine likwid_markerThreadInit

  subroutine likwid_markerNextGroup()
  end subroutine likwid_markerNextGroup

  subroutine likwid_markerClose()
  end subroutine likwid_markerClose

  !> Regions need no registration.
  subroutine likwid_markerRegisterRegion(tag)
    character(*), intent(in) :: tag
    if (len(tag) < 0) return
  end subroutine likwid_markerRegisterRegion

  !> The sums of a region are not reset.
  subroutine likwid_markerResetRegion(tag)
    character(*), intent(in) :: tag
    call likwid_markerRegisterRegion(tag)
  end subroutine likwid_markerResetRegion

  subroutine likwid_markerStartRegion(tag)
    character(*), intent(in) :: tag
    call sweetspot_region_begin(tag)
  end subroutine likwid_markerStartRegion

  subroutine likwid_markerStopRegion(tag)
    character(*), intent(in) :: tag
    call sweetspot_region_end(tag)
  end subroutine likwid_markerStopRegion
end module likwid

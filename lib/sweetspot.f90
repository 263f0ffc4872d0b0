! SPDX-License-Identifier: BSD-3-Clause
! libsweetspot for Fortran 2003 and newer: regions, and look-up of tuned settings. Installed as a source, because module files
! belong to one compiler: compile it with your program, and link with -lsweetspot.
!
!     use sweetspot
!     type(sweetspot_profile) :: profile
!     type(sweetspot_settings) :: settings
!     profile = sweetspot_open()
!     settings = sweetspot_lookup(profile, 'fw', ['n'], [4096d0])
!     block = sweetspot_integer(settings, 'block', 64)
!
! Without a profile, or if nothing fits, the defaults are returned, so that programs run as before. See libsweetspot(3).
module sweetspot
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_associated, c_char, c_null_char, c_int, c_long_long, c_size_t, &
       c_double, c_loc
  implicit none
  private
  public :: sweetspot_region_begin, sweetspot_region_end, sweetspot_open, sweetspot_close, sweetspot_lookup, sweetspot_found
  public :: sweetspot_integer, sweetspot_number

  integer, parameter :: message_size = 512

  !> An open profile. Every copy of it is the same profile; close one of them once.
  type, public :: sweetspot_profile
     private
     type(c_ptr) :: handle = c_null_ptr
  end type sweetspot_profile

  !> The settings for a problem, which live as long as their profile.
  type, public :: sweetspot_settings
     private
     type(c_ptr) :: handle = c_null_ptr
  end type sweetspot_settings

  type, bind(c) :: value_type
     type(c_ptr) :: name
     real(c_double) :: number
     type(c_ptr) :: word
  end type value_type

  interface
     subroutine c_begin(name) bind(c, name='sweetspot_begin')
       import :: c_char
       character(kind=c_char), intent(in) :: name(*)
     end subroutine c_begin
     subroutine c_end(name) bind(c, name='sweetspot_end')
       import :: c_char
       character(kind=c_char), intent(in) :: name(*)
     end subroutine c_end
     type(c_ptr) function c_open(path, message, size) bind(c, name='sweetspot_open')
       import :: c_ptr, c_char, c_size_t
       type(c_ptr), value :: path
       character(kind=c_char), intent(out) :: message(*)
       integer(c_size_t), value :: size
     end function c_open
     subroutine c_close(profile) bind(c, name='sweetspot_close')
       import :: c_ptr
       type(c_ptr), value :: profile
     end subroutine c_close
     type(c_ptr) function c_lookup(profile, kernel, objective, problem, count, match) bind(c, name='sweetspot_lookup')
       import :: c_ptr, c_char, c_size_t, value_type
       type(c_ptr), value :: profile, objective, match
       character(kind=c_char), intent(in) :: kernel(*)
       type(value_type), intent(in) :: problem(*)
       integer(c_size_t), value :: count
     end function c_lookup
     integer(c_long_long) function c_int_setting(config, name, otherwise) bind(c, name='sweetspot_int')
       import :: c_ptr, c_char, c_long_long
       type(c_ptr), value :: config
       character(kind=c_char), intent(in) :: name(*)
       integer(c_long_long), value :: otherwise
     end function c_int_setting
     real(c_double) function c_real_setting(config, name, otherwise) bind(c, name='sweetspot_real')
       import :: c_ptr, c_char, c_double
       type(c_ptr), value :: config
       character(kind=c_char), intent(in) :: name(*)
       real(c_double), value :: otherwise
     end function c_real_setting
  end interface

contains

  subroutine sweetspot_region_begin(name)
    character(*), intent(in) :: name
    call c_begin(trim(name)//c_null_char)
  end subroutine sweetspot_region_begin

  subroutine sweetspot_region_end(name)
    character(*), intent(in) :: name
    call c_end(trim(name)//c_null_char)
  end subroutine sweetspot_region_end

  !> Opens the profile of this machine, or the one at path. message tells why none was opened.
  function sweetspot_open(path, message) result(profile)
    character(*), intent(in), optional :: path
    character(*), intent(out), optional :: message
    type(sweetspot_profile) :: profile
    character(kind=c_char), target :: text(message_size), name(message_size)
    type(c_ptr) :: given
    integer :: i
    text = c_null_char
    given = c_null_ptr
    if (present(path)) then
       name = c_null_char
       do i = 1, min(len_trim(path), message_size - 1)
          name(i) = path(i:i)
       end do
       given = c_loc(name)
    end if
    profile%handle = c_open(given, text, int(message_size, c_size_t))
    if (.not. present(message)) return
    message = ''
    do i = 1, min(len(message), message_size)
       if (text(i) == c_null_char) exit
       message(i:i) = text(i)
    end do
  end function sweetspot_open

  subroutine sweetspot_close(profile)
    type(sweetspot_profile), intent(inout) :: profile
    call c_close(profile%handle)
    profile%handle = c_null_ptr
  end subroutine sweetspot_close

  !> The settings of a kernel for a problem, whose members are numbers: names(i) has the value values(i).
  function sweetspot_lookup(profile, kernel, names, values) result(settings)
    type(sweetspot_profile), intent(in) :: profile
    character(*), intent(in) :: kernel, names(:)
    real(c_double), intent(in) :: values(:)
    type(sweetspot_settings) :: settings
    type(value_type) :: problem(size(names))
    character(kind=c_char), target :: texts(len(names) + 1, size(names))
    integer :: i, j
    texts = c_null_char
    do i = 1, size(names)
       do j = 1, len_trim(names(i))
          texts(j, i) = names(i)(j:j)
       end do
       problem(i) = value_type(c_loc(texts(1, i)), values(i), c_null_ptr)
    end do
    settings%handle = c_lookup(profile%handle, trim(kernel)//c_null_char, c_null_ptr, problem, &
         int(size(names), c_size_t), c_null_ptr)
  end function sweetspot_lookup

  logical function sweetspot_found(settings)
    type(sweetspot_settings), intent(in) :: settings
    sweetspot_found = c_associated(settings%handle)
  end function sweetspot_found

  integer function sweetspot_integer(settings, name, otherwise)
    type(sweetspot_settings), intent(in) :: settings
    character(*), intent(in) :: name
    integer, intent(in) :: otherwise
    sweetspot_integer = int(c_int_setting(settings%handle, trim(name)//c_null_char, int(otherwise, c_long_long)))
  end function sweetspot_integer

  real(c_double) function sweetspot_number(settings, name, otherwise)
    type(sweetspot_settings), intent(in) :: settings
    character(*), intent(in) :: name
    real(c_double), intent(in) :: otherwise
    sweetspot_number = c_real_setting(settings%handle, trim(name)//c_null_char, otherwise)
  end function sweetspot_number
end module sweetspot

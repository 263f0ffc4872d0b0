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
! Without a profile, or if nothing fits, the defaults are returned, so that programs run as before.
!
!     type(sweetspot_context) :: spmv
!     type(sweetspot_choice) :: choice
!     spmv = sweetspot_context_open('spmv')
!     call sweetspot_context_integer(spmv, 'block', [16, 32, 64], 32)
!     call sweetspot_context_text(spmv, 'variant', ['row ', 'warp'], 'row')
!     ...
!     call sweetspot_choose(spmv, choice, ['n'], [1d6])
!     call run(sweetspot_chosen_integer(choice, 'block'))
!     call sweetspot_report(choice)
!
! See libsweetspot(3).
module sweetspot
  use, intrinsic :: iso_c_binding, only: c_ptr, c_null_ptr, c_associated, c_char, c_null_char, c_int, c_long_long, c_size_t, &
       c_double, c_loc, c_f_pointer
  use, intrinsic :: ieee_arithmetic, only: ieee_value, ieee_quiet_nan
  implicit none
  private
  public :: sweetspot_region_begin, sweetspot_region_end, sweetspot_open, sweetspot_close, sweetspot_lookup, sweetspot_found
  public :: sweetspot_integer, sweetspot_number
  public :: sweetspot_context_open, sweetspot_context_integer, sweetspot_context_number, sweetspot_context_text
  public :: sweetspot_context_constraint, sweetspot_choose, sweetspot_report
  public :: sweetspot_chosen_integer, sweetspot_chosen_number, sweetspot_chosen_text

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

  !> Something that the program chooses again and again. Every context of a name is the same one.
  type, public :: sweetspot_context
     private
     type(c_ptr) :: handle = c_null_ptr
  end type sweetspot_context

  !> One choice, to be reported when its work is done.
  type, bind(c), public :: sweetspot_choice
     private
     type(c_ptr) :: context = c_null_ptr, config = c_null_ptr, place = c_null_ptr
     integer(c_long_long) :: start = 0, ticket = 0
     type(c_ptr) :: reserved(3) = c_null_ptr
  end type sweetspot_choice

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
     type(c_ptr) function c_context_open(name) bind(c, name='sweetspot_context_open')
       import :: c_ptr, c_char
       character(kind=c_char), intent(in) :: name(*)
     end function c_context_open
     integer(c_int) function c_context_int(context, name, values, count, otherwise) bind(c, name='sweetspot_context_int')
       import :: c_ptr, c_char, c_int, c_long_long, c_size_t
       type(c_ptr), value :: context
       character(kind=c_char), intent(in) :: name(*)
       integer(c_long_long), intent(in) :: values(*)
       integer(c_size_t), value :: count
       integer(c_long_long), value :: otherwise
     end function c_context_int
     integer(c_int) function c_context_real(context, name, values, count, otherwise) bind(c, name='sweetspot_context_real')
       import :: c_ptr, c_char, c_int, c_double, c_size_t
       type(c_ptr), value :: context
       character(kind=c_char), intent(in) :: name(*)
       real(c_double), intent(in) :: values(*)
       integer(c_size_t), value :: count
       real(c_double), value :: otherwise
     end function c_context_real
     integer(c_int) function c_context_word(context, name, values, count, otherwise) bind(c, name='sweetspot_context_word')
       import :: c_ptr, c_char, c_int, c_size_t
       type(c_ptr), value :: context
       character(kind=c_char), intent(in) :: name(*), otherwise(*)
       type(c_ptr), intent(in) :: values(*)
       integer(c_size_t), value :: count
     end function c_context_word
     integer(c_int) function c_constraint(context, expression) bind(c, name='sweetspot_context_constraint')
       import :: c_ptr, c_char, c_int
       type(c_ptr), value :: context
       character(kind=c_char), intent(in) :: expression(*)
     end function c_constraint
     subroutine c_choose(context, problem, count, choice) bind(c, name='sweetspot_choose')
       import :: c_ptr, c_size_t, value_type, sweetspot_choice
       type(c_ptr), value :: context
       type(value_type), intent(in) :: problem(*)
       integer(c_size_t), value :: count
       type(sweetspot_choice), intent(out) :: choice
     end subroutine c_choose
     integer(c_long_long) function c_chosen_int(choice, name) bind(c, name='sweetspot_chosen_int')
       import :: c_char, c_long_long, sweetspot_choice
       type(sweetspot_choice), intent(in) :: choice
       character(kind=c_char), intent(in) :: name(*)
     end function c_chosen_int
     real(c_double) function c_chosen_real(choice, name) bind(c, name='sweetspot_chosen_real')
       import :: c_char, c_double, sweetspot_choice
       type(sweetspot_choice), intent(in) :: choice
       character(kind=c_char), intent(in) :: name(*)
     end function c_chosen_real
     type(c_ptr) function c_chosen_word(choice, name) bind(c, name='sweetspot_chosen_word')
       import :: c_ptr, c_char, sweetspot_choice
       type(sweetspot_choice), intent(in) :: choice
       character(kind=c_char), intent(in) :: name(*)
     end function c_chosen_word
     subroutine c_report(choice, cost) bind(c, name='sweetspot_report')
       import :: c_double, sweetspot_choice
       type(sweetspot_choice), intent(inout) :: choice
       real(c_double), value :: cost
     end subroutine c_report
     integer(c_size_t) function c_length(text) bind(c, name='strlen')
       import :: c_ptr, c_size_t
       type(c_ptr), value :: text
     end function c_length
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
    call problem_set(names, values, texts, problem)
    settings%handle = c_lookup(profile%handle, trim(kernel)//c_null_char, c_null_ptr, problem, &
         int(size(names), c_size_t), c_null_ptr)
  end function sweetspot_lookup

  !> The texts of names as C has them, and members that point to them.
  subroutine problem_set(names, values, texts, problem)
    character(*), intent(in) :: names(:)
    real(c_double), intent(in) :: values(:)
    character(kind=c_char), target, intent(out) :: texts(:, :)
    type(value_type), intent(out) :: problem(:)
    integer :: i
    call texts_set(names, texts)
    do i = 1, size(names)
       problem(i) = value_type(c_loc(texts(1, i)), values(i), c_null_ptr)
    end do
  end subroutine problem_set

  subroutine texts_set(names, texts)
    character(*), intent(in) :: names(:)
    character(kind=c_char), intent(out) :: texts(:, :)
    integer :: i, j
    texts = c_null_char
    do i = 1, size(names)
       do j = 1, len_trim(names(i))
          texts(j, i) = names(i)(j:j)
       end do
    end do
  end subroutine texts_set

  function sweetspot_context_open(name) result(context)
    character(*), intent(in) :: name
    type(sweetspot_context) :: context
    context%handle = c_context_open(trim(name)//c_null_char)
  end function sweetspot_context_open

  !> A whole number to choose: its values and the default.
  subroutine sweetspot_context_integer(context, name, values, otherwise)
    type(sweetspot_context), intent(in) :: context
    character(*), intent(in) :: name
    integer, intent(in) :: values(:), otherwise
    integer(c_int) :: status
    status = c_context_int(context%handle, trim(name)//c_null_char, int(values, c_long_long), &
         int(size(values), c_size_t), int(otherwise, c_long_long))
  end subroutine sweetspot_context_integer

  subroutine sweetspot_context_number(context, name, values, otherwise)
    type(sweetspot_context), intent(in) :: context
    character(*), intent(in) :: name
    real(c_double), intent(in) :: values(:), otherwise
    integer(c_int) :: status
    status = c_context_real(context%handle, trim(name)//c_null_char, values, int(size(values), c_size_t), otherwise)
  end subroutine sweetspot_context_number

  subroutine sweetspot_context_text(context, name, values, otherwise)
    type(sweetspot_context), intent(in) :: context
    character(*), intent(in) :: name, values(:), otherwise
    character(kind=c_char), target :: texts(len(values) + 1, size(values))
    type(c_ptr) :: words(size(values))
    integer(c_int) :: status
    integer :: i
    call texts_set(values, texts)
    do i = 1, size(values)
       words(i) = c_loc(texts(1, i))
    end do
    status = c_context_word(context%handle, trim(name)//c_null_char, words, int(size(values), c_size_t), &
         trim(otherwise)//c_null_char)
  end subroutine sweetspot_context_text

  !> A rule that each choice keeps, in Python's syntax.
  subroutine sweetspot_context_constraint(context, expression)
    type(sweetspot_context), intent(in) :: context
    character(*), intent(in) :: expression
    integer(c_int) :: status
    status = c_constraint(context%handle, trim(expression)//c_null_char)
  end subroutine sweetspot_context_constraint

  !> Chooses for a problem, whose members are numbers: names(i) has the value values(i).
  subroutine sweetspot_choose(context, choice, names, values)
    type(sweetspot_context), intent(in) :: context
    type(sweetspot_choice), intent(out) :: choice
    character(*), intent(in), optional :: names(:)
    real(c_double), intent(in), optional :: values(:)
    type(value_type) :: none(1)
    if (present(names) .and. present(values)) then
       call choose_for(context, choice, names, values)
    else
       none(1) = value_type(c_null_ptr, 0, c_null_ptr)
       call c_choose(context%handle, none, 0_c_size_t, choice)
    end if
  end subroutine sweetspot_choose

  subroutine choose_for(context, choice, names, values)
    type(sweetspot_context), intent(in) :: context
    type(sweetspot_choice), intent(out) :: choice
    character(*), intent(in) :: names(:)
    real(c_double), intent(in) :: values(:)
    type(value_type) :: problem(size(names))
    character(kind=c_char), target :: texts(len(names) + 1, size(names))
    call problem_set(names, values, texts, problem)
    call c_choose(context%handle, problem, int(size(names), c_size_t), choice)
  end subroutine choose_for

  !> The work is done; without its cost in seconds, the time since the choice counts.
  subroutine sweetspot_report(choice, cost)
    type(sweetspot_choice), intent(inout) :: choice
    real(c_double), intent(in), optional :: cost
    real(c_double) :: seconds
    seconds = ieee_value(seconds, ieee_quiet_nan)
    if (present(cost)) seconds = cost
    call c_report(choice, seconds)
  end subroutine sweetspot_report

  integer function sweetspot_chosen_integer(choice, name)
    type(sweetspot_choice), intent(in) :: choice
    character(*), intent(in) :: name
    sweetspot_chosen_integer = int(c_chosen_int(choice, trim(name)//c_null_char))
  end function sweetspot_chosen_integer

  real(c_double) function sweetspot_chosen_number(choice, name)
    type(sweetspot_choice), intent(in) :: choice
    character(*), intent(in) :: name
    sweetspot_chosen_number = c_chosen_real(choice, trim(name)//c_null_char)
  end function sweetspot_chosen_number

  function sweetspot_chosen_text(choice, name) result(text)
    type(sweetspot_choice), intent(in) :: choice
    character(*), intent(in) :: name
    character(:), allocatable :: text
    character(kind=c_char), pointer :: bytes(:)
    type(c_ptr) :: word
    integer :: i
    word = c_chosen_word(choice, trim(name)//c_null_char)
    call c_f_pointer(word, bytes, [c_length(word)])
    allocate (character(size(bytes)) :: text)
    do i = 1, size(bytes)
       text(i:i) = bytes(i)
    end do
  end function sweetspot_chosen_text

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

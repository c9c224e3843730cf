# Compiler settings shared by all targets of this repository.
#
# Warnings apply to our own targets only: nanobind and doctest come in as system headers.

if(MASKWRIGHT_SANITIZE)
  if(MSVC)
    message(FATAL_ERROR "MASKWRIGHT_SANITIZE is for gcc and clang.")
  endif()
  # For the whole directory: mixing instrumented and plain objects gives false reports. A finding
  # ends the program, so that a test run cannot pass over it.
  add_compile_options(-fsanitize=${MASKWRIGHT_SANITIZE} -fno-sanitize-recover=all
    -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MASKWRIGHT_SANITIZE})
  # Bounds checks inside the standard library's containers.
  add_compile_definitions(_GLIBCXX_ASSERTIONS _LIBCPP_HARDENING_MODE=_LIBCPP_HARDENING_MODE_EXTENSIVE)
endif()

# Warnings, and an encoding for the sources, for one of our targets.
function(maskwright_target name)
  if(MSVC)
    # /W4 and /permissive- are MSVC's nearest match; /utf-8 is what gcc and clang assume anyway.
    target_compile_options(${name} PRIVATE /W4 /permissive- /utf-8
      $<$<BOOL:${MASKWRIGHT_WARNINGS_AS_ERRORS}>:/WX>)
    target_compile_definitions(${name} PRIVATE NOMINMAX _CRT_SECURE_NO_WARNINGS)
  else()
    target_compile_options(${name} PRIVATE -Wall -Wextra -Wpedantic -Wconversion
      $<$<BOOL:${MASKWRIGHT_WARNINGS_AS_ERRORS}>:-Werror>)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
      # gcc 12 sees overlaps in std::string's assignment that cannot be (GCC bug 105651).
      target_compile_options(${name} PRIVATE -Wno-restrict)
    endif()
  endif()
endfunction()

# -O3 for optimised builds of the engine, whatever the tool chain's default is.
function(maskwright_optimize name)
  if(NOT MSVC)
    target_compile_options(${name} PRIVATE $<$<CONFIG:Release>:-O3>)
  endif()
endfunction()

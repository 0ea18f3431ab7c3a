# What is not here is asked for by the name of its Debian package, in one sentence.
find_package(PkgConfig REQUIRED)

# credence_ask_for(PACKAGE SECTION) -- stops: PACKAGE is missing; it stands in SECTION of packages.txt.
function(credence_ask_for package section)
  set(who "credence needs")
  if(NOT section STREQUAL build)
    set(who "the ${section}s of credence need")
  endif()
  message(FATAL_ERROR "${who} ${package}: run tools/install-deps ${section}")
endfunction()

# credence_find(NAME MODULE PACKAGE SECTION) -- target PkgConfig::NAME, of pkg-config's MODULE.
macro(credence_find name module package section)
  pkg_check_modules(${name} QUIET IMPORTED_TARGET ${module})
  if(NOT ${name}_FOUND)
    credence_ask_for(${package} ${section})
  endif()
endmacro()

# cmake -DFROM=include/credence/graph.h -DPUBLIC=include -DTO=OUT -P gather_header.cmake
# Writes one tier of the public header: each #include "..." is replaced, the first time it is met, by the
# text of that file, and dropped after that; include guards go; the system headers move to the top.  An
# #include of another tier stays, and what that tier holds is left to it.
# Only headers of the C standard may be among those: users need nothing else to compile.

cmake_minimum_required(VERSION 3.21)

set(ALLOWED stdarg.h stdbool.h stddef.h stdint.h)

set(seen "")
set(system_headers "")
set(tiers "")
set(text "")

# Appends the text of `file` to `text`.  Works on plain strings only: C is full of semicolons and
# brackets, which CMake's lists would take apart.
function(gather file)
  file(READ ${file} rest)
  get_filename_component(directory ${file} DIRECTORY)
  string(REGEX REPLACE "#ifndef CREDENCE_[A-Z0-9_]*H\n#define CREDENCE_[A-Z0-9_]*H\n+" "" rest "${rest}")
  string(REGEX REPLACE "\n+#endif\n*$" "\n" rest "${rest}")

  while(rest MATCHES "(^|\n)#include ([\"<])([^\">\n]+)[\">][^\n]*\n")
    set(line "${CMAKE_MATCH_0}")
    set(kind "${CMAKE_MATCH_2}")
    set(name "${CMAKE_MATCH_3}")
    string(FIND "${rest}" "${line}" at)
    string(SUBSTRING "${rest}" 0 ${at} before)
    string(APPEND text "${before}\n")
    string(LENGTH "${line}" length)
    math(EXPR at "${at} + ${length}")
    string(SUBSTRING "${rest}" ${at} -1 rest)
    string(PREPEND rest "\n")

    get_filename_component(path "${name}" ABSOLUTE BASE_DIR ${directory})
    if(NOT EXISTS "${path}")
      get_filename_component(path "../src/${name}" ABSOLUTE BASE_DIR ${PUBLIC})
    endif()
    string(FIND "${path}" "${PUBLIC}/" in_public)
    if(kind STREQUAL "<")
      if(NOT name IN_LIST ALLOWED)
        message(FATAL_ERROR "${file}: a public header may not include <${name}>")
      endif()
      list(APPEND system_headers ${name})
    elseif(NOT EXISTS "${path}")
      message(FATAL_ERROR "${file}: ${name} does not exist")
    elseif(in_public EQUAL 0)
      set(text_here "${text}")
      set(system_headers_here ${system_headers})
      gather(${path})
      set(text "${text_here}")
      set(system_headers ${system_headers_here})
      list(APPEND tiers ${name})
    elseif(NOT path IN_LIST seen)
      list(APPEND seen ${path})
      gather(${path})
    endif()
  endwhile()

  set(text "${text}${rest}" PARENT_SCOPE)
  set(seen "${seen}" PARENT_SCOPE)
  set(system_headers "${system_headers}" PARENT_SCOPE)
  set(tiers "${tiers}" PARENT_SCOPE)
endfunction()

gather(${FROM})

list(REMOVE_DUPLICATES system_headers)
list(SORT system_headers)
list(TRANSFORM system_headers REPLACE "(.+)" "#include <\\1>")
list(TRANSFORM tiers REPLACE "(.+)" "#include \"\\1\"")
list(APPEND tiers ${system_headers})
list(JOIN tiers "\n" includes)
string(REGEX REPLACE "\n\n\n+" "\n\n" text "${text}")
string(FIND "${text}" "*/" end_of_title)   # the first comment, of FROM, stays on top
math(EXPR end_of_title "${end_of_title} + 2")
string(SUBSTRING "${text}" 0 ${end_of_title} title)
string(SUBSTRING "${text}" ${end_of_title} -1 text)
file(RELATIVE_PATH guard ${PUBLIC} ${FROM})
string(MAKE_C_IDENTIFIER "${guard}" guard)
string(TOUPPER "${guard}" guard)

file(WRITE ${TO} "${title}
#ifndef ${guard}
#define ${guard}

${includes}

#ifdef __cplusplus
extern \"C\" {
#endif
${text}
#ifdef __cplusplus
}
#endif

#endif
")

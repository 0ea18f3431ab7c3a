# What is made of the tables of the program by the program itself: man pages, completions, schemas.

# credence_add_models(TARGET FILE...) -- compiles the model classes of FILEs into TARGET, which has
# registry.c among its sources.  FILE x.c defines cri_class_x.
function(credence_add_models target)
  set(list "")
  foreach(file ${ARGN})
    get_filename_component(stem ${file} NAME_WE)
    string(APPEND list "X(${stem})")
  endforeach()
  if(list)
    target_sources(${target} PRIVATE ${ARGN})
    target_compile_options(${target} PRIVATE "-DCREDENCE_EXTRA_MODELS(X)=${list}")
  endif()
endfunction()

# credence_install_surfaces() -- makes them with every build of the program, under share/ in the build
# folder, and installs them.
function(credence_install_surfaces)
  if(NOT TARGET credence_cli OR CMAKE_CROSSCOMPILING)
    return()
  endif()
  set(share ${PROJECT_BINARY_DIR}/share)
  set(completions bash-completion/completions/credence zsh/site-functions/_credence
    fish/vendor_completions.d/credence.fish)
  set(commands "")
  foreach(file ${completions})
    get_filename_component(folder ${file} DIRECTORY)
    string(REGEX REPLACE "[-/].*" "" shell ${file})
    list(APPEND commands COMMAND ${CMAKE_COMMAND} -E make_directory ${share}/${folder}
      COMMAND credence_cli completion ${shell} -o ${share}/${file})
  endforeach()
  add_custom_command(OUTPUT ${share}/stamp
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${share}
    COMMAND credence_cli document man ${share}/man
    COMMAND credence_cli document schema ${share}/credence/schema
    ${commands}
    COMMAND ${CMAKE_COMMAND} -E touch ${share}/stamp
    DEPENDS credence_cli
    COMMENT "Making man pages, completions and schemas")
  add_custom_target(credence_surfaces ALL DEPENDS ${share}/stamp)

  install(DIRECTORY ${share}/man/ DESTINATION ${CMAKE_INSTALL_MANDIR})
  install(DIRECTORY ${share}/ DESTINATION ${CMAKE_INSTALL_DATADIR} PATTERN man EXCLUDE
    PATTERN stamp EXCLUDE)
endfunction()

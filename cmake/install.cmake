# What `make install` puts where: libraries, the tiers of the public header, credence.pc, a CMake package,
# the program, the Python package.

# --- the public header, each tier gathered from the headers beside the code -------------------------
file(GLOB_RECURSE gathered CONFIGURE_DEPENDS include/*.h src/*.h)
foreach(tier credence.h credence/graph.h credence/math.h credence/dist.h)
  set(header ${PROJECT_BINARY_DIR}/include/${tier})
  add_custom_command(OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/include/${tier} -DPUBLIC=${PROJECT_SOURCE_DIR}/include
            -DTO=${header} -P ${PROJECT_SOURCE_DIR}/cmake/gather_header.cmake
    DEPENDS ${gathered} cmake/gather_header.cmake
    COMMENT "Gathering include/${tier}")
  get_filename_component(folder ${tier} DIRECTORY)
  install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/${folder})
  list(APPEND tiers ${header})
endforeach()
add_custom_target(credence_header ALL DEPENDS ${tiers})

# --- libraries and program -----------------------------------------------------------------------
install(TARGETS credence EXPORT credence LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS credence_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
if(TARGET credence_cli)
  install(TARGETS credence_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()

# --- pkg-config: all paths are relative to the file, so the tree may be moved ---------------------
set(pkgconfig_dir ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
file(RELATIVE_PATH up_to_prefix /${pkgconfig_dir} /)
string(REGEX REPLACE "/$" "" up_to_prefix "${up_to_prefix}")
configure_file(cmake/credence.pc.in credence.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/credence.pc DESTINATION ${pkgconfig_dir})

# --- CMake package: find_package(credence), then credence::credence ------------------------------
include(CMakePackageConfigHelpers)
set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/credence)
install(EXPORT credence NAMESPACE credence:: FILE credenceConfig.cmake DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/credenceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/credenceConfigVersion.cmake DESTINATION ${package_dir})

# --- Python package: where the Python of this system looks; type hints when it can be run ---------
execute_process(COMMAND ${CREDENCE_PYTHON} -c "if True:
    import sys, sysconfig
    debian = sysconfig.get_path('purelib').endswith('dist-packages')
    version = '3' if debian and '${CMAKE_INSTALL_PREFIX}' == '/usr' else '%d.%d' % sys.version_info[:2]
    print('lib/python%s/%s-packages' % (version, 'dist' if debian else 'site'))"
  OUTPUT_VARIABLE python_dir OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE failed ERROR_QUIET)
if(NOT failed)
  set(CREDENCE_PYTHON_DIR ${python_dir} CACHE STRING "where the Python package goes, below the prefix")
  install(DIRECTORY python/credence DESTINATION ${CREDENCE_PYTHON_DIR}
    FILES_MATCHING PATTERN "*.py" PATTERN "py.typed" PATTERN "__pycache__" EXCLUDE)
  if(NOT CREDENCE_SANITIZE)  # Python cannot load a library that wants a sanitizer
    install(CODE "
      set(stub \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CREDENCE_PYTHON_DIR}/credence/__init__.pyi\")
      execute_process(
        COMMAND ${CMAKE_COMMAND} -E env PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=${PROJECT_SOURCE_DIR}/python
                CREDENCE_LIBRARY=$<TARGET_FILE:credence> ${CREDENCE_PYTHON} -m credence.stubs
        OUTPUT_VARIABLE text RESULT_VARIABLE failed ERROR_QUIET)
      if(NOT failed)
        file(WRITE \"\${stub}\" \"\${text}\")
      endif()")
  endif()
endif()

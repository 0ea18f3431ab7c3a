# What `make install` puts where: libraries, one header, credence.pc, a CMake package, the program.

# --- the one header, gathered from those beside the code -----------------------------------------
set(header ${PROJECT_BINARY_DIR}/include/credence.h)
file(GLOB_RECURSE gathered CONFIGURE_DEPENDS include/*.h src/*.h)
add_custom_command(OUTPUT ${header}
  COMMAND ${CMAKE_COMMAND} -DFROM=${PROJECT_SOURCE_DIR}/include/credence.h -DTO=${header}
          -P ${PROJECT_SOURCE_DIR}/cmake/gather_header.cmake
  DEPENDS ${gathered} cmake/gather_header.cmake
  COMMENT "Gathering include/credence.h")
add_custom_target(credence_header ALL DEPENDS ${header})
install(FILES ${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})

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

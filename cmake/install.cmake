# What `cmake --install` gives, in two components. `runtime`: the programs with their manual pages
# and completions, the shared libraries of trials and studies, the Python package. `development`:
# static libraries, the headers that their users need, a CMake package and pkg-config files; to
# install it the programs need not be built. Everything may be moved afterwards.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/attune)
foreach(room ${attune_library_rooms})
  set_target_properties(attune_${room} PROPERTIES EXPORT_NAME ${room})
  install(TARGETS attune_${room} EXPORT attune ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
          COMPONENT development INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
target_compile_features(attune_base INTERFACE cxx_std_23)
foreach(shared trial_c study_c)
  set_target_properties(attune_${shared} PROPERTIES EXPORT_NAME ${shared})
  install(TARGETS attune_${shared} EXPORT attune LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
          COMPONENT development INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
endforeach()
install(TARGETS attune_plugin EXPORT attune COMPONENT development
        INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# Without the name for linkers: for programs that were linked elsewhere.
install(TARGETS attune_trial_c attune_study_c LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
        COMPONENT runtime NAMELINK_SKIP)

install(EXPORT attune FILE attuneTargets.cmake NAMESPACE attune:: DESTINATION ${package_dir}
        COMPONENT development)
configure_package_config_file(cmake/attuneConfig.cmake.in ${CMAKE_BINARY_DIR}/attuneConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${CMAKE_BINARY_DIR}/attuneConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/attuneConfig.cmake ${CMAKE_BINARY_DIR}/attuneConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT development)

# pkg-config. The libraries by their paths: -lattune_trial would be the shared one.
file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(attune_study_libraries "")
foreach(room ${attune_library_rooms})
  string(APPEND attune_study_libraries " \${libdir}/libattune_${room}.a")
endforeach()
foreach(name trial trial-c study study-c)
  configure_file(cmake/attune-${name}.pc.in ${CMAKE_BINARY_DIR}/attune-${name}.pc @ONLY)
  install(FILES ${CMAKE_BINARY_DIR}/attune-${name}.pc
          DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT development)
endforeach()

# At installation, so that it sees the headers as they are then.
install(CODE "
  set(source ${CMAKE_SOURCE_DIR})
  set(staging ${CMAKE_BINARY_DIR}/installed_headers)
  set(destination ${CMAKE_INSTALL_INCLUDEDIR})
  include(${CMAKE_SOURCE_DIR}/cmake/install_headers.cmake)" COMPONENT development)

# What puts attuned under NNI's managers. One file, which asks by which name it was called.
install(PROGRAMS share/nni/nni-attuned DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
install(PROGRAMS share/nni/python3 DESTINATION share/attune/nni COMPONENT runtime)
install(PROGRAMS share/nni/python3 DESTINATION share/attune/nni RENAME interpreter
        COMPONENT runtime)
install(FILES share/nni/attuned_tuner.py DESTINATION share/attune/nni COMPONENT runtime)

install(DIRECTORY ${CMAKE_SOURCE_DIR}/python/ DESTINATION share/attune/python
        COMPONENT runtime PATTERN __pycache__ EXCLUDE)

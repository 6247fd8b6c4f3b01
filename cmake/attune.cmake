# What every target of the project is compiled with, and the one way to declare a room.

add_library(attune_options INTERFACE)
target_include_directories(attune_options INTERFACE ${CMAKE_SOURCE_DIR})
target_compile_features(attune_options INTERFACE cxx_std_23)
# -ffp-contract=off: the same answers on every machine, fused multiply-add or not.
target_compile_options(attune_options INTERFACE -Wall -Wextra -Wshadow -Wnon-virtual-dtor -Wold-style-cast
                       -Wcast-align -Woverloaded-virtual -Wconversion -Wno-sign-conversion -ffp-contract=off)
# g++ 12 at -O3 is wrong about overlaps in "text" + std::string (GCC bug 105651). Asio's fences, which
# the thread sanitizer does not model, are not what orders our threads: mutexes are.
target_compile_options(attune_options INTERFACE "$<$<CXX_COMPILER_ID:GNU>:-Wno-restrict;-Wno-tsan>")
# The stable_sort of libstdc++ 12 uses what it has deprecated itself, which only clang tells.
target_compile_options(attune_options INTERFACE
                       "$<$<CXX_COMPILER_ID:Clang>:-Wno-deprecated-declarations>")
# Two clones compile the same bytes, so that one finds in ccache what the other has compiled.
target_compile_options(attune_options INTERFACE -ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
target_link_libraries(attune_options INTERFACE Threads::Threads)
# The names of many files in one: the dev preset compiles each file by itself and has both warnings.
if(CMAKE_UNITY_BUILD)
  target_compile_options(attune_options INTERFACE -Wno-shadow -Wno-subobject-linkage)
endif()
if(ATTUNE_WERROR)
  target_compile_options(attune_options INTERFACE -Werror)
endif()
if(ATTUNE_SANITIZE)
  target_compile_options(attune_options INTERFACE -fsanitize=${ATTUNE_SANITIZE} -fno-omit-frame-pointer
                         -fno-sanitize-recover=all)
  target_link_options(attune_options INTERFACE -fsanitize=${ATTUNE_SANITIZE})
  # A check at every access: a quarter of the time to compile. The address sanitizer reports null
  # and what is outside of an object; clang's, in the fuzz targets, have all three.
  target_compile_options(attune_options INTERFACE
                         "$<$<CXX_COMPILER_ID:GNU>:-fno-sanitize=null,alignment,object-size>")
endif()


# What programs link that tune in their own process, in the order of linking: each needs only what
# follows. All of it is also in the shared libraries.
set(attune_library_rooms study dispatcher analysis tuners assessors rungs math space journal protocol trial wire os base)

# attune_room(NAME LINK other_room fmt::fmt): a static library attune_NAME of all sources in this
# folder and its FOLDERS, EXCEPT those of programs. What stands in BUILD_INTERFACE is nothing to those
# who link an installed one.
# COLD: what runs once for a command, a file or a job. It compiles at -O1, in two thirds of the time.
function(attune_room name)
  cmake_parse_arguments(ROOM "COLD" "" "EXCEPT;FOLDERS;LINK" ${ARGN})
  list(TRANSFORM ROOM_FOLDERS APPEND /*.cpp)
  file(GLOB sources RELATIVE ${CMAKE_CURRENT_SOURCE_DIR} CONFIGURE_DEPENDS *.cpp ${ROOM_FOLDERS})
  list(REMOVE_ITEM sources ${ROOM_EXCEPT})
  add_library(attune_${name} STATIC ${sources})
  target_link_libraries(attune_${name} PUBLIC $<BUILD_INTERFACE:attune_options> ${ROOM_LINK})
  if(name IN_LIST attune_library_rooms)
    set_target_properties(attune_${name} PROPERTIES POSITION_INDEPENDENT_CODE ON)
    # Nobody takes the place of their functions, so that calls need no table.
    target_compile_options(attune_${name} PRIVATE -fno-semantic-interposition)
  endif()
  if(ROOM_COLD)
    target_compile_options(attune_${name} PRIVATE $<$<CONFIG:Release>:-O1>)
  endif()
endfunction()

# attune_c_library(NAME): the shared library libattune_NAME.so with the functions of NAME_c.h, for C
# and for whatever can load a library. Its map keeps everything else inside: two libraries in one
# process may hold different versions of it. The SONAME has the ABI number of the header.
function(attune_c_library name)
  set(map ${CMAKE_CURRENT_SOURCE_DIR}/${name}_c.map)
  file(STRINGS ${name}_c.h abi REGEX "^#define ATTUNE_[A-Z]+_ABI ")
  string(REGEX REPLACE "^.* " "" abi "${abi}")
  add_library(attune_${name}_c SHARED ${name}_c.cpp)
  target_link_libraries(attune_${name}_c PRIVATE attune_${name})
  target_link_options(attune_${name}_c PRIVATE LINKER:--version-script=${map} LINKER:--as-needed)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${name}_c.h)
  set_target_properties(attune_${name}_c PROPERTIES OUTPUT_NAME attune_${name} LINK_DEPENDS ${map}
                        VERSION ${abi}.${PROJECT_VERSION} SOVERSION ${abi})
  target_include_directories(attune_${name}_c INTERFACE $<BUILD_INTERFACE:${CMAKE_BINARY_DIR}/include>)
endfunction()

# With ATTUNE_PORTABLE programs and shared libraries need glibc of their machine and nothing else:
# libraries are linked statically, libstdc++ and libgcc too. Not so glibc: names of hosts and users
# come from its modules, and attuned loads plug-ins. NLopt is LGPL: the shared library lies beside,
# so that it can be replaced.
# Included after the packages were found.

# Debian has no archives of these two. Their headers can hold everything: then the linker sees no use
# of the shared libraries, and --as-needed leaves them out.
set_property(TARGET fmt::fmt PROPERTY INTERFACE_COMPILE_DEFINITIONS FMT_HEADER_ONLY)
set_property(TARGET spdlog::spdlog PROPERTY INTERFACE_COMPILE_DEFINITIONS SPDLOG_FMT_EXTERNAL)
add_link_options(-static-libstdc++ -static-libgcc LINKER:--as-needed)
# A library that tunes has no use for TLS, and its rooms have: what nothing reaches is left out.
add_compile_options(-ffunction-sections -fdata-sections)
add_link_options(LINKER:--gc-sections)

# static_library(TARGET NAME): the imported TARGET is libNAME.a.
function(static_library target name)
  find_library(ATTUNE_STATIC_${name} lib${name}.a REQUIRED)
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  set_property(TARGET ${target} PROPERTY IMPORTED_LOCATION ${ATTUNE_STATIC_${name}})
  foreach(configuration ${configurations})
    set_property(TARGET ${target} PROPERTY IMPORTED_LOCATION_${configuration} ${ATTUNE_STATIC_${name}})
  endforeach()
endfunction()

static_library(yaml-cpp yaml-cpp)
static_library(SQLite::SQLite3 sqlite3)
static_library(OpenSSL::Crypto crypto)
static_library(OpenSSL::SSL ssl)
add_library(pcre2-8 STATIC IMPORTED GLOBAL)  # linked by its name
static_library(pcre2-8 pcre2-8)

# cairo, under the MPL, and what its archive needs; fonts and their configuration are the machine's.
# A group, because some need each other.
set(archives)
foreach(name cairo pixman-1 fontconfig freetype png16 expat z brotlidec brotlicommon uuid X11 Xext Xrender xcb
        xcb-render xcb-shm Xau Xdmcp)
  find_library(ATTUNE_STATIC_${name} lib${name}.a REQUIRED)
  list(APPEND archives ${ATTUNE_STATIC_${name}})
endforeach()
string(JOIN "," archives ${archives})
set(ATTUNE_CAIRO "$<LINK_GROUP:RESCAN,${archives}>")

# Where it lies in an installation, and in the wheel (packaging/make_wheel.py).
set(CMAKE_INSTALL_RPATH "$ORIGIN;$ORIGIN/../lib;$ORIGIN/../_lib")
get_target_property(nlopt_file NLopt::nlopt LOCATION)
get_target_property(nlopt_name NLopt::nlopt IMPORTED_SONAME_NONE)
install(FILES ${nlopt_file} DESTINATION lib RENAME ${nlopt_name} COMPONENT runtime)

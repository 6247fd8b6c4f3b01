# Installs the public headers and whatever they include, with "base/json.h" rewritten to
# "attune/base/json.h": a header of the user with the same name must not come between.
# Set before: source, staging, destination.

cmake_policy(VERSION 3.25)

# Those that programs include.
set(waiting plugins/attune_plugin.h plugins/attune_plugin.hpp study/space_builder.h study/study.h study/study_c.h trial/buffer_client.h trial/function_runner.h
    trial/status_reporter.h trial/trial.h trial/trial_c.h trial/trial_function.h trial/trial_main.h)

file(REMOVE_RECURSE ${staging})
set(done "")
while(waiting)
  list(POP_FRONT waiting header)
  if(header IN_LIST done)
    continue()
  endif()
  list(APPEND done ${header})
  file(READ ${source}/${header} text)
  string(REGEX MATCHALL "\n[ \t]*#[ \t]*include[ \t]*\"[^\"\n]+\"" includes "${text}")
  foreach(line ${includes})
    string(REGEX REPLACE ".*\"(.*)\"" "\\1" included "${line}")
    list(APPEND waiting ${included})
  endforeach()
  string(REGEX REPLACE "(\n[ \t]*#[ \t]*include[ \t]*\")" "\\1attune/" text "${text}")
  # Too short a name to force upon programs of users.
  string(REGEX REPLACE "\n#define TRY\\([^\n]*" "" text "${text}")
  file(WRITE ${staging}/attune/${header} "${text}")
endwhile()
file(INSTALL ${staging}/attune DESTINATION ${CMAKE_INSTALL_PREFIX}/${destination})

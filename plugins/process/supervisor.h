#pragma once
// Stands between attuned and the program of a plug-in, and ends everything that the program leaves
// behind: `attuned plugin-supervisor PROGRAM ARGUMENT...`.
//
// Why a process: if attuned is killed with SIGKILL, only another process can still act. A parent
// death signal alone would reach the program, but not its children; a process group or a session
// would lose those that make a session of their own. The supervisor is a child subreaper, so that
// each orphan below it becomes its child: it finds all of them in /proc, below itself, whatever
// they did, and no process of anybody else. It is attuned itself because there is one file less to
// install and to find, and it runs before attuned opens anything.
//
// Descriptor 3 is a socket whose other end only attuned has, without anybody inheriting it. So its
// end of file means that attuned has ended in some way, or wants the program to end. 0, 1 and 2 are
// the program's; the supervisor closes its own, so that attuned sees when the program closes them.
//
// What it cannot do: find processes after it was itself killed with SIGKILL. Then the parent death
// signal still ends the program.
#include <cstdint>

namespace attune {

// The word on the command line.
inline constexpr const char* kSupervisorCommand = "plugin-supervisor";
inline constexpr int kSupervisorSocket = 3;

// Written to the socket, as it is, when no process is left below the supervisor.
struct ProgramEnd {
  std::int32_t error = 0;  // errno: the program could not be started
  std::int32_t code = 0, signal = 0;
  bool operator==(const ProgramEnd&) const = default;
};

// Runs `arguments` (argv, null-terminated; [0] is looked up in $PATH unless it has a slash) until
// it has ended or the socket is closed, kills what is left, and returns the exit code for main().
// The program inherits environment, directory and descriptors 0, 1 and 2. All signals are blocked
// before and after: nobody but SIGKILL ends a supervisor early. Single-threaded.
int supervise_plugin(char* const* arguments);

}  // namespace attune

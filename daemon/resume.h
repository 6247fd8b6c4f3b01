#pragma once
// Makes the beginning of a daemon: afresh, or where the journal of a former daemon ends.
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "daemon/crew.h"
#include "dispatcher/replay.h"
#include "journal/file.h"
#include "os/file_system.h"

namespace attune {

std::string journal_path(const std::string& directory);

struct Beginning {
  Crew crew;
  Begin begin = {};  // what the journal's next record says
  // The journal that is continued; nothing: a new one begins.
  struct Old {
    JournalFile::Existing existing;
    std::uint64_t good = 0, after_snapshot = 0;  // bytes of records: all, those behind a snapshot
  };
  std::optional<Old> old;
  std::vector<JournalRecord> fresh;         // to be appended to it (Replay::fresh)
  std::vector<Replay::Leftover> leftovers;  // for the dispatcher, before what the workers say next
  // For a manager that resumes exactly: what ID says, and the answers that follow it.
  std::optional<std::uint64_t> through;
  std::vector<Frame> answers;
  std::string refused;  // why it cannot resume exactly, and where the journal is kept
  // When Terminate or the end of input was read, by the clock, if it came before all this was
  // ready.
  std::optional<double> end_seen;
};

// Locks the journal, and with configuration.resume replays it. A journal that is missing, damaged,
// of another tuner, or contradicted by the replay is no error: the log says why, the file is kept
// as PATH.refused, and the manager's ImportData brings the known results. Errors: the configuration
// cannot be used, a plug-in failed in the replay, another daemon has the journal, or an old journal
// cannot be renamed; the journal stays as it is. May take long. `clock` must outlive the workers.
Result<Beginning> make_beginning(const Configuration& configuration, const Algorithms& algorithms,
                                 FileSystem& files, const Clock& clock, const Log& log);

}  // namespace attune

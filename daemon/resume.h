#pragma once
// How a daemon begins: afresh, or where the journal of a former one ends.
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
  BeginHow how = BeginHow::fresh;
  // Of the journal that is gone on with; nothing: a new one begins.
  struct Old {
    JournalFile::Existing existing;
    std::uint64_t good = 0, after_snapshot = 0;  // bytes
  };
  std::optional<Old> old;
  std::vector<JournalRecord> fresh;         // that belong at its end
  std::vector<Replay::Leftover> leftovers;  // what the workers have said, and io is to handle first
  // For a manager that resumes exactly: what ID says, and the answers that follow it.
  std::optional<std::uint64_t> through;
  std::vector<Frame> answers;
  std::string refused;  // why it cannot, and where its journal is kept
  // When Terminate or the end of input was read, by the clock, if it was before all this was ready.
  std::optional<double> end_seen;
};

// With configuration.resume a journal that is missing, damaged, of another tuner or that the replay
// contradicts is no error: the log says why, it is kept as PATH.refused, and what is known comes
// through the manager's ImportData. An error: the configuration, or another daemon has the journal.
// `clock` lives longer than the workers.
Result<Beginning> make_beginning(const Configuration& configuration, const Algorithms& algorithms,
                                 FileSystem& files, const Clock& clock, const Log& log);

}  // namespace attune

#pragma once
// What workers need to know of an experiment, or of a role of a workload: a file in a directory
// that they share with who wrote it.
#include <filesystem>
#include <string>

#include "base/result.h"
#include "manager/experiment/task_program.h"

namespace attune {

struct WorkerFile {
  std::string id;                   // of the experiment; a role's is that of the coordinator
  std::filesystem::path directory;  // absolute; where trials and this file are
  TaskProgram program;
};

// Its name tells its content, so that what changes is another file.
Result<std::filesystem::path> write_worker_file(const WorkerFile& content);

// For a worker. Whoever wrote it must be trusted, and of this version: what another one has written
// is refused. The folder of the program must be there, too.
Result<WorkerFile> read_worker_file(const std::filesystem::path& file);

}  // namespace attune

#pragma once
// The file that tells workers how to run the trials of an experiment, or the tasks of a role of a
// workload. It lies in a directory that the workers share with whoever wrote it.
#include <filesystem>
#include <string>

#include "base/result.h"
#include "manager/experiment/task_program.h"

namespace attune {

struct WorkerFile {
  std::string id;                   // of the experiment; for a role: "coordinator"
  std::filesystem::path directory;  // absolute; that of the experiment or the coordinator
  TaskProgram program;
};

// Writes <directory>/workers/experiment-<checksum>.json, and returns its path. Another content is
// thus another file.
Result<std::filesystem::path> write_worker_file(const WorkerFile& content);

// Reads the file on a worker. Error: the file or the directory may be changed by others
// (os/trust.h), the file is of another version of attune, or the folder of the program is missing
// here.
Result<WorkerFile> read_worker_file(const std::filesystem::path& file);

}  // namespace attune

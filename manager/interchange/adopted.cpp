#include "manager/interchange/adopted.h"

#include <fmt/format.h>

#include <fstream>

#include "manager/interchange/nni_import.h"
#include "manager/interchange/optuna_import.h"

namespace attune {
namespace {

bool is_database(const std::filesystem::path& file) {
  std::string head(16, '\0');
  std::ifstream(file, std::ios::binary).read(head.data(), std::ssize(head));
  return head == std::string("SQLite format 3\0", 16);
}

}  // namespace

Result<AdoptedExperiment> adopt_file(const std::filesystem::path& path, const std::string& name) {
  std::error_code error;
  const bool folder = std::filesystem::is_directory(path, error);
  const std::filesystem::path file = folder ? path / "db" / "nni.sqlite" : path;
  if (folder && !std::filesystem::exists(file, error))
    return fail(fmt::format("{} is no folder of an experiment of NNI: there is no {}",
                            path.string(), file.string()));
  if (!is_database(file)) return adopt_optuna(file, name);
  if (!name.empty())
    return fail(
        fmt::format("{}: an experiment of NNI has no studies; leave out --study", file.string()));
  return adopt_nni(file);
}

}  // namespace attune

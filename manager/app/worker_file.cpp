#include "manager/app/worker_file.h"

#include <fmt/format.h>

#include <system_error>

#include "base/crc32c.h"
#include "base/names.h"
#include "base/saved_numbers.h"
#include "os/atomic_file.h"
#include "os/private_file.h"
#include "os/trust.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// The version of the file; increase it with each change. The first version had no number, and held
// a whole experiment file.
constexpr int kForm = 3;

Result<WorkerFile> parse(const json& object) {
  WorkerFile read;
  read.id = TRY(text_at(object, "experiment"));
  TRY(check_name("the experiment", read.id));
  read.directory = TRY(text_at(object, "directory"));
  read.program = TRY(parse_task_program(TRY(object_at(object, "program"))));
  return read;
}

}  // namespace

Result<fs::path> write_worker_file(const WorkerFile& content) {
  const std::string text = dump_json({{"form", kForm},
                                      {"experiment", content.id},
                                      {"directory", content.directory.string()},
                                      {"program", to_json(content.program)}});
  const fs::path folder = content.directory / "workers";
  TRY(make_directories(folder));
  fs::path file = folder / fmt::format("experiment-{:08x}.json", crc32c(text));
  TRY(write_file_atomically(file.string(), text));
  return file;
}

Result<WorkerFile> read_worker_file(const fs::path& file) {
  std::error_code error;
  const auto text = read_trusted_file(file);
  if (!text && fs::exists(file, error)) return std::unexpected(text.error());
  if (!text)
    return fail(
        fmt::format("{}; workers and the manager need a directory that they share, at the "
                    "same path",
                    text.error().message));
  const json object = TRY(parse_json(*text));
  if (!object.is_object() || object.value("form", json()) != kForm)
    return fail(
        fmt::format("{} is of another version of attune; the manager, the coordinator and the "
                    "workers need the same one",
                    file.string()));
  auto read = parse(object);
  if (!read) return fail(fmt::format("{}: {}", file.string(), read.error().message));
  TRY(check_trusted(read->directory));
  if (!fs::is_directory(read->program.code_directory, error))
    return fail(
        fmt::format("the directory of the program, {}, is not there on this machine; workers and "
                    "the manager need it at the same path",
                    read->program.code_directory.string()));
  return read;
}

}  // namespace attune

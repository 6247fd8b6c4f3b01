#include "manager/app/nni_home.h"

#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <chrono>
#include <tuple>
#include <utility>

#include "manager/dashboard/nni_json.h"
#include "manager/store/sqlite.h"
#include "os/atomic_file.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFolder = "nni-experiments";
constexpr std::chrono::seconds kPace{1};  // between two looks at whether a manager runs

// nnictl config and nnictl experiment import read the configuration from NNI's database.
Result<void> write_profile(const fs::path& file, const json& profile) {
  Database database = TRY(Database::open(file, Database::Mode::create));
  auto make = TRY(
      database.prepare("CREATE TABLE ExperimentProfile (params TEXT, id TEXT, revision INTEGER)"));
  TRY(make.run({}));
  auto insert = TRY(database.prepare("INSERT INTO ExperimentProfile VALUES (?, ?, 1)"));
  TRY(insert.run({dump_json(profile["params"]), profile["id"].get<std::string>()}));
  return {};
}

}  // namespace

Result<std::unique_ptr<NniHome>> NniHome::make(boost::asio::io_context& io, StoreReader reader,
                                               const StoredExperiment& experiment,
                                               std::string place, bool stops) {
  std::unique_ptr<NniHome> home(new NniHome(io, std::move(reader), std::move(place), stops));
  std::error_code error;
  std::string path = (fs::temp_directory_path(error) / "attune-nni-XXXXXX").string();
  if (::mkdtemp(path.data()) == nullptr) return fail("cannot make the folder " + path);
  home->path_ = path;
  TRY(home->fill(experiment));
  TRY(home->write_list(experiment.id));
  home->look_again(experiment.id);
  return home;
}

NniHome::~NniHome() {
  std::error_code ignored;
  if (!path_.empty()) fs::remove_all(path_, ignored);  // does not follow the links to the logs
}

Result<void> NniHome::fill(const StoredExperiment& experiment) {
  const fs::path folder = path_ / kFolder / experiment.id;
  std::error_code error;
  fs::create_directories(folder / "db", error);
  fs::create_directory(folder / "log", error);
  // What nnictl log shows.
  fs::create_symlink(experiment.directory / "log/runner.log", folder / "log/nnictl_stdout.log",
                     error);
  fs::create_symlink(experiment.directory / "log/attuned.stderr", folder / "log/nnictl_stderr.log",
                     error);
  if (error) return fail(fmt::format("cannot make {}: {}", folder.string(), error.message()));
  return write_profile(folder / "db/nni.sqlite",
                       nni_profile(experiment, TRY(reader_.tally(experiment)), 0));
}

// nnictl takes an experiment whose process is gone, or whose status is STOPPED, for one that nobody
// serves any more. It stops an experiment by a signal to that process: so this is the manager while
// there is one, and afterwards we are.
Result<void> NniHome::write_list(const std::string& id) {
  const StoredExperiment experiment = TRY(reader_.find(id));
  json entry = nni_entry(experiment, TRY(reader_.tally(experiment)));
  if (!stops_ || entry["pid"].is_null()) entry["pid"] = ::getpid();
  if (entry["status"] == "STOPPED") entry["status"] = "VIEWED";
  entry["port"] = place_;
  entry["prefixUrl"] = nullptr;
  entry["logDir"] = (path_ / kFolder).string();
  const std::string text = dump_json({{id, entry}});
  if (text == written_) return {};
  TRY(write_file_atomically((path_ / kFolder / ".experiment").string(), text));
  written_ = text;
  return {};
}

void NniHome::look_again(const std::string& id) {
  timer_.expires_after(kPace);
  timer_.async_wait([this, id](boost::system::error_code error) {
    if (error) return;
    std::ignore = write_list(id);  // a store that cannot be read now may be read later
    look_again(id);
  });
}

}  // namespace attune

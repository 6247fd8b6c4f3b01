#include "manager/store/schema.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <string.h>
#include <sys/file.h>

#include <array>

#include "os/private_file.h"
#include "os/trust.h"
#include "os/unique_fd.h"

namespace attune {
namespace {

// "attn" in ASCII. SQLite's application_id distinguishes our files from those of other programs.
constexpr std::int64_t kApplicationId = 0x6174746e;

// Tables whose rows are found by (experiment, trial) are WITHOUT ROWID: the rows of one trial lie
// together, and SQLite writes one B-tree instead of a table and an index.
constexpr std::string_view kVersion1 = R"sql(
CREATE TABLE experiments (
  experiment INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  name TEXT NOT NULL,
  directory TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'completed', 'interrupted', 'failed')),
  reason TEXT NOT NULL DEFAULT '',
  objective TEXT NOT NULL,
  maximize INTEGER NOT NULL,
  seed INTEGER NOT NULL,
  file TEXT NOT NULL,
  runs INTEGER NOT NULL DEFAULT 1,
  manager_pid INTEGER NOT NULL,
  manager_started_at REAL NOT NULL,
  started_at REAL NOT NULL,
  ended_at REAL,
  seconds REAL NOT NULL DEFAULT 0,
  seen_at REAL
) STRICT;
CREATE TABLE trials (
  experiment INTEGER NOT NULL REFERENCES experiments,
  trial INTEGER NOT NULL,
  job_id TEXT NOT NULL,
  source TEXT NOT NULL,
  status TEXT NOT NULL,
  reason TEXT NOT NULL,
  attempts INTEGER NOT NULL,
  failures INTEGER NOT NULL,
  reports INTEGER NOT NULL,
  score REAL,
  last_metric TEXT,
  final_metric TEXT,
  checkpoint TEXT NOT NULL,
  added_at REAL NOT NULL,
  started_at REAL,
  ended_at REAL,
  PRIMARY KEY (experiment, trial)
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX trials_by_job ON trials (experiment, job_id);
CREATE INDEX trials_by_status ON trials (experiment, status);
CREATE INDEX trials_by_score ON trials (experiment, score) WHERE status = 'SUCCEEDED';
CREATE TABLE parameters (
  experiment INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  parameter_index INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  parameter_id TEXT NOT NULL,
  parameters TEXT NOT NULL,
  text TEXT NOT NULL,
  resume_job TEXT NOT NULL,
  checkpoint_from TEXT NOT NULL,
  PRIMARY KEY (experiment, trial, parameter_index, attempt),
  FOREIGN KEY (experiment, trial) REFERENCES trials
) STRICT, WITHOUT ROWID;
CREATE TABLE attempts (
  experiment INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  from_checkpoint TEXT NOT NULL,
  started_at REAL NOT NULL,
  ended_at REAL,
  ending TEXT,
  detail TEXT,
  cpu_seconds REAL,
  max_rss REAL,
  PRIMARY KEY (experiment, trial, attempt),
  FOREIGN KEY (experiment, trial) REFERENCES trials
) STRICT, WITHOUT ROWID;
CREATE TABLE reports (
  experiment INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  report INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  type TEXT NOT NULL,
  sequence INTEGER NOT NULL,
  time REAL NOT NULL,
  position INTEGER NOT NULL,
  late INTEGER NOT NULL,
  ignored TEXT NOT NULL,
  value REAL,
  text TEXT NOT NULL,
  PRIMARY KEY (experiment, trial, report),
  FOREIGN KEY (experiment, trial) REFERENCES trials
) STRICT, WITHOUT ROWID;
CREATE TABLE decisions (
  decision INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL,
  trial INTEGER NOT NULL,
  time REAL NOT NULL,
  action TEXT NOT NULL,
  decided_by TEXT NOT NULL,
  reason TEXT NOT NULL,
  FOREIGN KEY (experiment, trial) REFERENCES trials
) STRICT;
CREATE INDEX decisions_by_trial ON decisions (experiment, trial);
CREATE TABLE checkpoints (
  experiment INTEGER NOT NULL,
  checkpoint TEXT NOT NULL,
  trial INTEGER NOT NULL,
  attempt INTEGER NOT NULL,
  state TEXT NOT NULL CHECK (state IN ('kept', 'failed', 'dropped')),
  bytes REAL NOT NULL,
  error TEXT NOT NULL,
  saved_at REAL NOT NULL,
  reports INTEGER NOT NULL,
  dropped_at REAL,
  PRIMARY KEY (experiment, checkpoint),
  FOREIGN KEY (experiment, trial) REFERENCES trials
) STRICT, WITHOUT ROWID;
CREATE INDEX checkpoints_by_trial ON checkpoints (experiment, trial);
CREATE TABLE imports (
  import INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiments,
  time REAL NOT NULL,
  job_id TEXT NOT NULL,
  parameters TEXT NOT NULL,
  value TEXT NOT NULL
) STRICT;
CREATE INDEX imports_by_experiment ON imports (experiment);
CREATE TABLE events (
  event INTEGER PRIMARY KEY,
  experiment INTEGER NOT NULL REFERENCES experiments,
  time REAL NOT NULL,
  kind TEXT NOT NULL,
  text TEXT NOT NULL
) STRICT;
CREATE INDEX events_by_experiment ON events (experiment);
)sql";

// The conversation with the daemon (manager/decider/outbox.h): the counts, the RunnerState as JSON
// (`manager`), and in `outbox` the commands that the daemon has not acknowledged.
constexpr std::string_view kVersion2 = R"sql(
CREATE TABLE conversations (
  experiment INTEGER PRIMARY KEY REFERENCES experiments,
  commands INTEGER NOT NULL,
  acknowledged INTEGER NOT NULL,
  answers INTEGER NOT NULL,
  manager TEXT NOT NULL
) STRICT;
CREATE TABLE outbox (
  experiment INTEGER NOT NULL REFERENCES experiments,
  number INTEGER NOT NULL,
  code TEXT NOT NULL,
  payload TEXT NOT NULL,
  PRIMARY KEY (experiment, number)
) STRICT, WITHOUT ROWID;
)sql";

// Where an attempt runs, if it runs on a worker.
constexpr std::string_view kVersion3 = R"sql(
ALTER TABLE attempts ADD COLUMN worker TEXT NOT NULL DEFAULT '';
ALTER TABLE attempts ADD COLUMN host TEXT NOT NULL DEFAULT '';
)sql";

// How long things ran, counted where they ran: the difference of two times is wrong if somebody
// sets the clock in between. And which attempt a decision is about, which was found by comparing
// times.
constexpr std::string_view kVersion4 = R"sql(
ALTER TABLE experiments ADD COLUMN ran REAL NOT NULL DEFAULT 0;
UPDATE experiments SET ran = max(coalesce(seen_at, 0) - manager_started_at, 0);
ALTER TABLE attempts ADD COLUMN ran REAL;
ALTER TABLE reports ADD COLUMN ran REAL;
ALTER TABLE decisions ADD COLUMN attempt INTEGER;
)sql";

// Whether a report counts. Before, programs found it out from `ignored`, a text for people.
constexpr std::string_view kVersion5 = R"sql(
ALTER TABLE reports ADD COLUMN counts INTEGER NOT NULL DEFAULT 0;
UPDATE reports SET counts = (ignored = '' OR ignored LIKE 'it has no finite%');
)sql";

// What the end of a decision means, and which trial an event is about. Before, a later manager
// found them out from `reason` and `text`, which are for people. Besides, a start that failed no
// longer counts as an attempt.
constexpr std::string_view kVersion6 = R"sql(
ALTER TABLE decisions ADD COLUMN ends TEXT NOT NULL DEFAULT '';
UPDATE decisions SET ends = CASE
  WHEN action = 'pause' THEN 'pause'
  WHEN action <> 'stop' THEN ''
  WHEN decided_by = 'user' THEN 'by_user'
  WHEN decided_by <> 'runner' THEN 'early_stop'
  WHEN reason = 'the experiment ended' THEN 'interrupt'
  WHEN reason = 'its own criterion' THEN 'complete'
  ELSE 'fail' END;
ALTER TABLE events ADD COLUMN trial INTEGER;
UPDATE events SET trial = (
  SELECT trial FROM trials WHERE trials.experiment = events.experiment
  AND trials.job_id = substr(events.text, 7, instr(events.text, ':') - 7))
WHERE text LIKE 'trial %:%';
UPDATE trials SET attempts = attempts - 1 WHERE ended_at IS NULL AND EXISTS (
  SELECT 1 FROM attempts WHERE attempts.experiment = trials.experiment
  AND attempts.trial = trials.trial AND attempts.attempt = trials.attempts - 1
  AND attempts.detail LIKE 'it could not be started%');
)sql";

// Which GPUs an attempt has, for the timeline of the dashboard.
constexpr std::string_view kVersion7 = R"sql(
ALTER TABLE attempts ADD COLUMN gpus TEXT NOT NULL DEFAULT '';
)sql";

constexpr std::array kSteps = {kVersion1, kVersion2, kVersion3, kVersion4,
                               kVersion5, kVersion6, kVersion7};

// Locks the folder while a process sets up the database in it, since SQLite's own locks do not
// cover the change to WAL mode. Tries again and again (BusyWait), because a blocking flock() has no
// time limit.
Result<UniqueFd> hold(const std::filesystem::path& folder, const BusyWait& busy) {
  UniqueFd fd = TRY(open_trusted(folder, O_RDONLY | O_DIRECTORY));
  double waited = 0;
  while (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return fail(fmt::format("cannot lock {}: {}", folder.string(), strerror(errno)));
    if (!busy.pause(waited))
      return fail(
          fmt::format("{}: another process sets up the store in it; see who with fuser, "
                      "and wait for it or end it",
                      folder.string()));
  }
  return fd;
}

// Makes the file if there is none, and checks who may write to it. An existing file is opened with
// O_PATH only: closing a real descriptor would release the POSIX locks that SQLite in this process
// holds on the file. Another process that then closes the database would believe to be the last,
// and delete attune.sqlite-wal, which this process goes on to write.
Result<void> make_file(const std::filesystem::path& file) {
  const UniqueFd made(::open(file.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!made && errno != EEXIST)
    return fail(fmt::format("cannot make {}: {}", file.string(), strerror(errno)));
  const UniqueFd found = TRY(open_private(file, O_PATH));
  return check_trusted(found.get(), file);
}

// Refuses what is no regular file, and an empty file. SQLite would wait for ever at a FIFO, and
// report a directory as a disk failure.
Result<void> check_kind(const std::filesystem::path& file) {
  std::error_code error;
  const auto status = std::filesystem::symlink_status(file, error);
  if (error) return {};  // opening the file gives a better error
  if (std::filesystem::is_directory(status))
    return fail(file.string() + " is a directory, where the store belongs; move it away");
  if (!std::filesystem::is_regular_file(status))
    return fail(file.string() + " is no regular file: who has put it there? Remove it");
  if (std::filesystem::file_size(file, error) == 0 && !error)
    return fail(file.string() +
                " is empty: no experiment is in it; put a copy in its place, or remove it");
  return {};
}

// The version of the tables; 0: the database is empty. Error: it is not ours, or too new.
Result<std::int64_t> version_of(Database& database, const std::filesystem::path& file,
                                std::size_t newest) {
  const std::int64_t version = TRY(database.integer("PRAGMA user_version"));
  const std::int64_t application = TRY(database.integer("PRAGMA application_id"));
  const std::int64_t things = TRY(database.integer("SELECT count(*) FROM sqlite_schema"));
  if (application != kApplicationId && (application != 0 || version != 0 || things != 0))
    return fail(fmt::format("{}: it belongs to another program; choose another working directory",
                            file.string()));
  if (version < 0 || version > static_cast<std::int64_t>(newest))
    return fail(
        fmt::format("{}: written by a newer attune (version {} of the tables, this program "
                    "knows up to {}); use that one",
                    file.string(), version, newest));
  return version;
}

}  // namespace

std::span<const std::string_view> schema_steps() { return kSteps; }

Result<Database> open_for_writing(const std::filesystem::path& working_directory,
                                  std::span<const std::string_view> steps, BusyWait busy) {
  TRY(make_directories(working_directory));
  const UniqueFd held = TRY(hold(working_directory, busy));
  const std::filesystem::path file = working_directory / kStoreFile;
  // Before SQLite, which gives attune.sqlite-wal and -shm the permissions of the file.
  TRY(make_file(file));
  Database database = TRY(Database::open(file, Database::Mode::create, busy));
  auto version = static_cast<std::size_t>(TRY(version_of(database, file, steps.size())));
  // WAL: readers do not wait for the writer. NORMAL: a commit survives a kill of this program at
  // any moment; a power cut may lose the last commits, but leaves the file intact.
  TRY(database.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;"));
  for (; version < steps.size(); ++version) {
    TRY(database.execute(fmt::format(
        "BEGIN IMMEDIATE; {} PRAGMA application_id = {}; PRAGMA user_version = {}; COMMIT;",
        steps[version], kApplicationId, version + 1)));
  }
  return database;
}

void link_database(const std::filesystem::path& working_directory,
                   const std::filesystem::path& directory) {
  std::error_code ignored;
  const std::filesystem::path link = directory / kStoreFile;
  const std::filesystem::path file =
      std::filesystem::canonical(working_directory / kStoreFile, ignored);
  if (std::filesystem::equivalent(link, file, ignored)) return;
  if (std::filesystem::is_symlink(link, ignored)) std::filesystem::remove(link, ignored);
  std::filesystem::create_symlink(
      file.lexically_relative(std::filesystem::canonical(directory, ignored)), link, ignored);
}

Result<void> bring_up_to_date(const std::filesystem::path& folder, BusyWait busy) {
  std::error_code error;
  const std::filesystem::path file = std::filesystem::canonical(folder / kStoreFile, error);
  if (error) return {};
  TRY(open_for_writing(file.parent_path(), schema_steps(), busy));
  return {};
}

Result<Database> open_for_reading(const std::filesystem::path& working_directory,
                                  std::span<const std::string_view> steps) {
  const std::filesystem::path file = working_directory / kStoreFile;
  TRY(check_kind(file));
  Database database = TRY(Database::open(file, Database::Mode::read));
  const std::int64_t version = TRY(version_of(database, file, steps.size()));
  if (version == 0)  // a manager is about to set it up, or was killed while it did
    return fail(file.string() + ": no experiment has begun in it yet; attune run makes one");
  if (version < static_cast<std::int64_t>(steps.size()))
    return fail(
        fmt::format("{}: written by an older attune; the next attune run or resume in "
                    "this working directory brings it up to date",
                    file.string()));
  return database;
}

}  // namespace attune

#include "manager/store/lost_store.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tuple>

#include "manager/store/schema.h"

namespace attune {
namespace {

constexpr std::array kEndings = {"-wal", "-shm"};

std::pair<dev_t, ino_t> identity(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? std::pair(status.st_dev, status.st_ino)
                                             : std::pair<dev_t, ino_t>();
}

Result<std::string> single_text(Database& database, const std::string& query,
                                std::initializer_list<SqlValue> values) {
  std::string text;
  auto statement = TRY(database.prepare(query));
  TRY(statement.query(values, [&](const SqlRow& row) {
    text = row.text(0);
    return false;
  }));
  return text;
}

Result<void> copy_tables(Database& from, const std::filesystem::path& to, std::int64_t experiment) {
  // Another manager may copy at the same time. A transaction that begins with a write waits for the
  // other one. If it began with a read, SQLite would refuse its first write. Hence this statement,
  // which changes nothing.
  TRY(from.execute("DELETE FROM anew.outbox WHERE false"));
  const std::string stranger = TRY(single_text(
      from,
      "SELECT a.id FROM anew.experiments AS a JOIN main.experiments AS m ON (a.experiment = "
      "m.experiment) <> (a.id = m.id) WHERE m.experiment = ?",
      {experiment}));
  if (!stranger.empty())
    return fail(
        fmt::format("{}: another store, with experiment {}, has taken its place; move that one "
                    "away, and the experiment goes on by itself",
                    to.string(), stranger));
  const std::string wanted = TRY(single_text(
      from,
      "SELECT group_concat(experiment) FROM main.experiments AS m WHERE experiment = ? OR NOT "
      "EXISTS (SELECT 1 FROM anew.experiments AS a WHERE a.experiment = m.experiment OR a.id = "
      "m.id)",
      {experiment}));
  // The other rows refer to that of the experiment. So it is deleted last, and copied first.
  for (auto table = kTables.rbegin(); table != kTables.rend(); ++table)
    TRY(from.execute(fmt::format("DELETE FROM anew.{} WHERE experiment = {}", *table, experiment)));
  for (const char* table : kTables) {
    // Without the keys of these three tables: they only number the rows, and in the new file other
    // experiments may have the same numbers.
    const std::string columns = TRY(single_text(
        from,
        "SELECT group_concat(name) FROM pragma_table_info(?) WHERE NOT (pk = 1 AND name IN "
        "('decision', 'import', 'event'))",
        {std::string(table)}));
    TRY(from.execute(
        fmt::format("INSERT INTO anew.{0} ({1}) SELECT {1} FROM main.{0} WHERE experiment IN ({2})",
                    table, columns, wanted)));
  }
  return {};
}

}  // namespace

SideFiles SideFiles::of(const std::filesystem::path& file) {
  SideFiles found;
  for (std::size_t i = 0; i < kEndings.size(); ++i)
    found.files_[i] = identity(file.string() + kEndings[i]);
  return found;
}

void SideFiles::remove(const std::filesystem::path& file) const {
  for (std::size_t i = 0; i < kEndings.size(); ++i) {
    const std::string path = file.string() + kEndings[i];
    if (files_[i].second != 0 && identity(path) == files_[i]) ::unlink(path.c_str());
  }
}

Result<void> copy_experiments(Database& from, const std::filesystem::path& to,
                              std::int64_t experiment) {
  auto attach = TRY(from.prepare("ATTACH ? AS anew"));
  TRY(attach.run({to.string()}));
  auto copied = from.execute("BEGIN");
  if (copied) copied = copy_tables(from, to, experiment);
  if (copied) copied = from.execute("COMMIT");
  if (!copied) std::ignore = from.execute("ROLLBACK");
  std::ignore = from.execute("DETACH anew");
  return copied;
}

}  // namespace attune

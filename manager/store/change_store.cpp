#include "manager/store/change_store.h"

#include <fmt/format.h>

#include <functional>
#include <tuple>

#include "manager/store/schema.h"
#include "manager/store/stored_rows.h"

namespace attune {
namespace {

// Runs `body` in a transaction, with the number of the experiment. On an error nothing is changed.
Result<void> change(const std::filesystem::path& working_directory, const std::string& id,
                    const std::function<Result<void>(Database&, std::int64_t)>& body) {
  Database database = TRY(open_for_writing(working_directory, schema_steps(), 10));
  TRY(database.execute("BEGIN IMMEDIATE"));
  std::int64_t number = 0;
  const auto done = [&]() -> Result<void> {
    auto find = TRY(database.prepare("SELECT experiment FROM experiments WHERE id = ?"));
    TRY(find.query({id}, [&](const SqlRow& row) {
      number = row.integer(0);
      return false;
    }));
    if (number == 0)
      return fail(fmt::format("{}: no experiment {} any more",
                              (working_directory / kStoreFile).string(), id));
    TRY(body(database, number));
    return database.execute("COMMIT");
  }();
  if (!done) std::ignore = database.execute("ROLLBACK");
  return done;
}

}  // namespace

Result<void> rename_experiment(const std::filesystem::path& working_directory,
                               const std::string& id, const std::string& name) {
  return change(
      working_directory, id, [&](Database& database, std::int64_t number) -> Result<void> {
        json file;
        auto find = TRY(database.prepare("SELECT file FROM experiments WHERE experiment = ?"));
        TRY(find.query({number}, [&](const SqlRow& row) {
          file = json_of(row.text(0));
          return false;
        }));
        auto rename =
            TRY(database.prepare("UPDATE experiments SET name = ?2 WHERE experiment = ?1"));
        TRY(rename.run({number, name}));
        if (!file.is_object()) return {};  // the stored file is damaged, and stays as it is
        file["experimentName"] = name;
        auto update =
            TRY(database.prepare("UPDATE experiments SET file = ?2 WHERE experiment = ?1"));
        TRY(update.run({number, dump_json(file)}));
        return {};
      });
}

Result<void> forget_experiment(const std::filesystem::path& working_directory,
                               const std::string& id) {
  return change(working_directory, id, [](Database& database, std::int64_t number) -> Result<void> {
    // Backwards: a table refers to tables before it.
    for (auto table = kTables.rbegin(); table != kTables.rend(); ++table)
      TRY(database.execute(fmt::format("DELETE FROM {} WHERE experiment = {}", *table, number)));
    return {};
  });
}

}  // namespace attune

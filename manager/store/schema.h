#pragma once
// The tables of attune.sqlite, and the upgrade of older files. docs/store.md says what each column
// means.
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "manager/store/sqlite.h"

namespace attune {

inline constexpr std::string_view kStoreFile = "attune.sqlite";

// All tables; each after those that it refers to. All have the column `experiment`.
inline constexpr std::array kTables = {"experiments", "trials",        "parameters",  "attempts",
                                       "reports",     "decisions",     "checkpoints", "imports",
                                       "events",      "conversations", "outbox"};

// The SQL of step i upgrades a database from version i (PRAGMA user_version) to version i + 1.
// Never change a step that was released: a change of the schema is a new step.
std::span<const std::string_view> schema_steps();

// Opens the database of a working directory in WAL mode. Makes the directory and the file if they
// are missing, and upgrades an older file with `steps`. Error: the file belongs to another program,
// or has a newer version than `steps` reach. Several processes may call this at the same time.
Result<Database> open_for_writing(const std::filesystem::path& working_directory,
                                  std::span<const std::string_view> steps, BusyWait busy);

// Makes a link to the database in the folder of an experiment (`directory`), so that commands find
// the store from there. Errors are ignored: everything works without the link.
void link_database(const std::filesystem::path& working_directory,
                   const std::filesystem::path& directory);

// Upgrades the database in `folder`, which is a working directory or the folder of an experiment,
// to the newest version. Does nothing if there is no database.
Result<void> bring_up_to_date(const std::filesystem::path& folder, BusyWait busy = 10);

// Opens the database to read only. Error, besides those of open_for_writing(): there is no file, or
// it has an older version than `steps` reach, since a reader does not upgrade it.
Result<Database> open_for_reading(const std::filesystem::path& working_directory,
                                  std::span<const std::string_view> steps);

}  // namespace attune

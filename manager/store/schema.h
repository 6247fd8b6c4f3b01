#pragma once
// The tables of attune.sqlite, and how an older file becomes a newer one. docs/store.md says what
// each column means.
#include <array>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "manager/store/sqlite.h"

namespace attune {

inline constexpr std::string_view kStoreFile = "attune.sqlite";

// Each after those that it refers to; all have the column `experiment`.
inline constexpr std::array kTables = {"experiments", "trials",        "parameters",  "attempts",
                                       "reports",     "decisions",     "checkpoints", "imports",
                                       "events",      "conversations", "outbox"};

// Step i takes a database of version i (PRAGMA user_version) to version i + 1. A step that was
// released is never changed: a change of the schema is one more step.
std::span<const std::string_view> schema_steps();

// The database of a working directory, ready to write: WAL, made or brought up to the newest
// version. Refused: a file of another program, and one of a newer version than `steps` reach.
// Several processes may do this at the same time.
Result<Database> open_for_writing(const std::filesystem::path& working_directory,
                                  std::span<const std::string_view> steps, BusyWait busy);

// So that the folder of an experiment leads to what is known of it. No harm when it cannot be made.
void link_database(const std::filesystem::path& working_directory,
                   const std::filesystem::path& directory);

// Brings the file up to the newest version that is there, or that the link in the folder of an
// experiment leads to. Nothing when there is none.
Result<void> bring_up_to_date(const std::filesystem::path& folder, BusyWait busy = 10);

// To read, otherwise as open_for_writing(). An older version than `steps` reach is refused too: who
// only reads migrates nothing.
Result<Database> open_for_reading(const std::filesystem::path& working_directory,
                                  std::span<const std::string_view> steps);

}  // namespace attune

#pragma once
// Shared by the sources that implement StoreReader.
#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "manager/store/store_reader.h"
#include "manager/store/stored_rows.h"

namespace attune {

// SELECT for trials of experiment ?1, each with its present configuration: the newest one of index
// 0. A condition or an order may be appended.
inline std::string trial_query() {
  return fmt::format(
      "SELECT {} FROM trials AS t JOIN parameters AS p ON p.experiment = t.experiment AND p.trial "
      "= t.trial "
      "AND p.parameter_index = 0 AND p.attempt = (SELECT max(attempt) FROM parameters AS q WHERE "
      "q.experiment = t.experiment AND q.trial = t.trial AND q.parameter_index = 0) "
      "WHERE t.experiment = ?1 ",
      kTrialColumns);
}

// "AND t.status IN ('FAILED') "; no statuses: all.
std::string status_condition(const std::vector<TrialStatus>& statuses);

struct StoreReader::State {
  std::filesystem::path folder;  // canonical; as given to open()
  std::filesystem::path file;
  bool is_experiment = false;  // `folder` is that of an experiment
  Database database;
  bool consistent = false;  // within StoreReader::consistently()

  // All rows of a query, each converted by `make`.
  template <class Make>
  auto all(const std::string& sql, std::initializer_list<SqlValue> values, const Make& make)
      -> Result<std::vector<decltype(make(std::declval<const SqlRow&>()))>> {
    std::vector<decltype(make(std::declval<const SqlRow&>()))> rows;
    auto statement = TRY(database.prepare(sql));
    TRY(statement.query(values, [&](const SqlRow& row) {
      rows.push_back(make(row));
      return true;
    }));
    return rows;
  }
};

}  // namespace attune

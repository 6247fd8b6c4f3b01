#pragma once
// The trials of an experiment as columns of numbers, for pictures of up to millions of them: read
// from the store once, kept up to date, and sent in a binary form (docs/api.md, "Columns").
//
// Trials change until they end, and no more then. So an update reads those that had not ended at
// the last one, and the new ones. Each change of a row gets the next number, and a page asks for
// the rows above the number that it has: it catches up exactly, however long it was asleep. (The
// store has no such number: it changes rows in place, and an index of changes would cost each write
// of the manager.)
//
// One thread owns a TrialColumns.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "manager/store/store_reader.h"
#include "space/space.h"

namespace attune {

// "w7", "w7 gpu 0,1" or "gpu 2".
std::string place_text(const std::string& worker, const std::string& gpus);

class TrialColumns {
 public:
  // `space`: of the experiment; without parameters if attune cannot read it. `epoch`: another one
  // for each object, of letters and digits.
  TrialColumns(const StoredExperiment& experiment, Space space, std::string epoch);

  // Whether they still fit: the same objectives and search space, and the same row of the store.
  bool fits(const StoredExperiment& experiment) const;

  // Reads what has changed, and at most `most` new trials. Returns whether there are more.
  Result<bool> update(StoreReader& reader, const StoredExperiment& experiment, std::size_t most);

  std::string cursor() const;  // of the newest change
  // How many of the trials read are in which state, without Tally::waiting.
  Tally tally() const;
  std::size_t bytes() const;  // about how much memory they take

  // The rows that changed after `cursor`, the oldest change first, at most `limit` of them. A
  // cursor of another object, or a text that is none, counts as the beginning. `more_in_store`: as
  // update() has returned; `total`: trials in the store.
  std::string changes(const std::string& cursor, std::size_t limit, bool more_in_store,
                      std::int64_t total) const;

 private:
  struct Metric {
    std::string name;
    std::vector<double> values;
  };

  void add(const TrialRecord& trial);
  void set(std::size_t row, const TrialRecord& trial);
  void set_parameters(std::size_t row, const TrialRecord& trial);
  // Reads where the trials `from` to `to` run or ran last. Rows that have changed since number
  // `before` need no other one.
  Result<void> read_places(StoreReader& reader, const StoredExperiment& experiment,
                           std::int64_t from, std::int64_t to, std::uint32_t before);
  std::uint16_t index_of_place(const std::string& place);
  std::optional<std::size_t> row_of(std::int64_t trial) const;
  std::vector<std::size_t> changed_since(std::uint32_t number, std::size_t limit, bool& more) const;

  std::int64_t experiment_ = 0;
  double started_ = 0;
  std::vector<Objective> objectives_;
  Space space_;
  json searched_;  // as the experiment file has it
  std::string epoch_;
  std::uint32_t changes_ = 0;
  std::array<std::int64_t, 7> counts_ = {};  // by TrialStatus

  // One element for each row; rows are in the order of the trials' numbers.
  std::vector<std::uint32_t> trial_, change_, reports_;
  std::vector<std::uint8_t> status_, source_;
  std::vector<std::uint16_t> worker_;  // an index into workers_
  std::vector<float> began_, ended_, violation_;
  std::vector<double> last_;
  std::vector<Metric> metrics_;                 // one for each objective
  std::vector<std::vector<float>> parameters_;  // one for each parameter of the space
  std::vector<std::string> workers_;            // "w7", "w7 gpu 0,1" or "gpu 2"
  std::map<std::string, std::uint16_t> place_indices_;
  std::vector<std::size_t> unfinished_;  // rows
};

}  // namespace attune

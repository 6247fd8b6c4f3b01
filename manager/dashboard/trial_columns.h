#pragma once
// The trials of an experiment as columns of numbers, for pictures of up to millions of them: read
// from the store once, kept up to date, and sent in a binary form (docs/api.md, "Columns").
//
// Trials change until they end, and no more then. So an update looks at those that had not ended at
// the last one, reads those of them that have changed, and the new ones. Each change of a row gets
// the next number, and a page asks for the rows above the number that it has: it catches up
// exactly, however long it was asleep. (The store has no such number: it changes rows in place, and
// an index of changes would cost each write of the manager.)
//
// One thread owns a TrialColumns.
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/leaders.h"
#include "base/result.h"
#include "manager/store/store_reader.h"
#include "space/space.h"

namespace attune {

class TrialColumns {
 public:
  // `space`: of the experiment; without parameters if attune cannot read it. `epoch`: another one
  // for each object, of letters and digits.
  TrialColumns(const StoredExperiment& experiment, Space space, std::string epoch);

  // Whether they still fit: the same objectives and search space, the same row of the store, and no
  // update has failed half-way.
  bool fits(const StoredExperiment& experiment) const;

  // Reads what has changed, and at most `most` new trials. Returns whether there are more.
  Result<bool> update(StoreReader& reader, const StoredExperiment& experiment, std::size_t most);

  std::string cursor() const;  // of the newest change
  Tally tally() const;         // how many of the trials read are in which state
  // The best of the succeeded trials read, by their numbers.
  const Leaders& leaders() const { return leaders_; }
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
  // The values of a parameter. A float is enough for most, and half as long.
  struct Parameter {
    bool is_wide = false;  // `wide` has the values
    std::vector<float> narrow = {};
    std::vector<double> wide = {};
  };
  struct Run {
    float began = 0, ended = 0;  // seconds since the start; NaN: it goes on
    std::uint16_t worker = 0;
    TrialStatus status = TrialStatus::running;  // in which the trial was after it
    bool is_as(const Run& other) const;
  };
  struct RunColumns {
    std::vector<std::uint32_t> trial;
    std::vector<float> began, ended;
    std::vector<std::uint16_t> worker;
    std::vector<std::uint8_t> status;
  };

  void add(const TrialRecord& trial);
  void set(std::size_t row, const TrialRecord& trial);
  void set_parameters(std::size_t row, const TrialRecord& trial);
  bool is_as(std::size_t row, const TrialMark& mark) const;
  Result<void> update_unfinished(StoreReader& reader, const StoredExperiment& experiment);
  Result<bool> add_new(StoreReader& reader, const StoredExperiment& experiment, std::size_t most);
  // `runs`: of one or more trials, those of a trial together. Rows that have changed since number
  // `before` need no other one.
  void set_runs(std::span<const TrialRun> runs, std::uint32_t before);
  void set_runs_of(std::size_t row, std::span<const TrialRun> runs, std::uint32_t before);
  float since_start(double time) const;  // 0: not yet
  std::uint16_t index_of_place(const std::string& place);
  std::optional<std::size_t> row_of(std::int64_t trial) const;
  RunColumns runs_of(std::span<const std::size_t> rows) const;
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
  std::vector<int> attempts_;
  std::vector<std::uint16_t> worker_;  // an index into workers_
  std::vector<float> began_, ended_, violation_;
  std::vector<double> last_;
  std::vector<Metric> metrics_;        // one for each objective
  std::vector<Parameter> parameters_;  // one for each parameter of the space
  std::vector<std::string> workers_;   // "w7", "w7 gpu 0,1" or "gpu 2"
  std::map<std::string, std::uint16_t> place_indices_;
  // By row, of those for which began_ and ended_ do not tell all: of trials that were interrupted.
  std::map<std::size_t, std::vector<Run>> runs_;
  std::vector<std::size_t> unfinished_;  // rows
  std::set<std::size_t> waiting_;        // rows, as TrialMark::waits
  bool failed_ = false;                  // some of the new rows may be incomplete
  Leaders leaders_;
};

}  // namespace attune

#pragma once
// Reads the spool of an attempt (backends/report/spool.h), and makes events of it.
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/report/metric_file.h"
#include "backends/trial_backend.h"
#include "os/unique_fd.h"

namespace attune {

struct SpoolRecord {
  std::string_view type;
  double time = 0;
  std::string_view body;  // both views into the parser, until the next call
};

// Takes the file in pieces of any size.
class SpoolParser {
 public:
  void feed(std::string_view bytes);
  // Nothing: what is left is not whole, or damaged.
  std::optional<SpoolRecord> next();
  // Forgets what is left, and says how much that was.
  std::size_t forget_rest();
  // There is something that is no record, and never will be. What is fed then is ignored: a hole of
  // gigabytes must not be kept in memory.
  bool damaged() const { return damaged_; }

 private:
  std::optional<SpoolRecord> give_up();

  std::string buffer_;
  std::size_t begin_ = 0;  // of what is not consumed
  bool damaged_ = false;
};

// What a spool says of its attempt, as far as it was read.
struct AttemptFacts {
  struct Process {
    pid_t pid = 0;
    std::uint64_t start = 0;  // ticks since the boot
  };
  struct Exit {
    int code = 0, signal = 0;
    bool out_of_memory = false;
    double cpu_seconds = 0, max_rss = 0, time = 0;
  };
  std::optional<double> begun;  // the time of its first record

  std::optional<Process> shim, command;
  std::string boot;
  std::vector<std::string> gpus;
  bool told_to_stop = false, told_to_pause = false;
  std::optional<std::string> restore_error;
  std::optional<Exit> exit;

  void take(const SpoolRecord& record);
  // Seconds from its begin to a record of this time.
  std::optional<double> ran(double time) const;
};

// What is written in a spool now, in its first `limit` bytes.
AttemptFacts read_facts(int fd, std::size_t limit);

// Whether a shim has it, lives or is about to start. `fd`: another open file description than the
// shim's.
bool is_held(int fd);

// The events of one attempt, from the file as it grows.
class SpoolReader {
 public:
  // Reports that end at or before `position` of the metric stream are left out, and so are the
  // problems among them. The stream is made of the bodies of metric and report records; an attempt
  // has only one of the two kinds. `parameter_id`: of reports that do not say it themselves;
  // `objective`: the metric that makes a result of one.
  SpoolReader(std::string job_id, UniqueFd spool, std::uint64_t position,
              ParameterId parameter_id = {}, std::string objective = "default");

  // Appends what is new, as much of the file as `buffer` holds; true when there may be more. With
  // `late` all reports are late; those behind a stop record are in any case.
  bool read(std::span<char> buffer, bool late, std::vector<TrialEvent>& events);
  // Nothing will be appended any more, and all was read: what is not whole now never will be.
  void finish(bool late, std::vector<TrialEvent>& events);

  // The result that the attempt itself did not call its final one, as a report behind all others;
  // nothing when an earlier manager has had it (see `position`).
  std::optional<TrialReport> final_report(json value, double time) const;
  bool final_wanted() const { return position_ <= stream_; }

  // Of report records the last one that has a number for the objective; null: there is none.
  const json& last_printed() const { return last_; }
  std::int64_t printed() const { return printed_; }  // report records so far, with any metrics
  const AttemptFacts& facts() const { return facts_; }
  bool damaged() const { return parser_.damaged(); }
  int fd() const { return spool_.get(); }

 private:
  void take(const SpoolRecord& record, bool late, std::vector<TrialEvent>& events);
  void take_printed(const SpoolRecord& record, bool late, std::vector<TrialEvent>& events);
  TrialReport make_report(ReportMetricData::Type type, std::int64_t sequence, json value,
                          double time, std::uint64_t position, bool late) const;
  void take_reports(bool late, std::vector<TrialEvent>& events);

  std::string job_id_;
  UniqueFd spool_;
  off_t offset_ = 0;
  SpoolParser parser_;
  MetricParser metrics_;
  std::uint64_t stream_ = 0;  // metric bytes read
  std::uint64_t position_;    // where those begin that are wanted
  ParameterId parameter_id_;
  std::string objective_;
  std::int64_t printed_ = 0;  // report records so far, those that are not wanted too
  json last_;
  double time_ = 0;  // of the newest metric record
  AttemptFacts facts_;
};

}  // namespace attune

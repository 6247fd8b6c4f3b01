#pragma once
// Reads the spool of an attempt (backends/report/spool.h), and turns it into events.
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
  std::string_view body;  // like `type` a view into the parser, valid until its next call
};

// Splits a spool, which is fed in pieces of any size, into records.
class SpoolParser {
 public:
  void feed(std::string_view bytes);
  // The next record. Nothing if the rest is not a whole record yet, or is damaged.
  std::optional<SpoolRecord> next();
  // Drops what next() has not returned; returns its size.
  std::size_t forget_rest();
  // Whether the spool contains something that can never become a record. What is fed after that is
  // ignored: a hole of gigabytes must not be kept in memory.
  bool damaged() const { return damaged_; }

 private:
  std::optional<SpoolRecord> give_up();

  std::string buffer_;
  std::size_t begin_ = 0;  // of what is not consumed
  bool damaged_ = false;
};

// What the spool says about its attempt, as far as it was read.
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
  // The seconds from the first record to a record with this time.
  std::optional<double> ran(double time) const;
};

// Reads the facts in the first `limit` bytes of a spool.
AttemptFacts read_facts(int fd, std::size_t limit);

// Whether the lock of the spool is held: a shim lives or is about to start. `fd` must be another
// open file description than the shim's.
bool is_held(int fd);

// Makes events of one attempt from the growing file.
class SpoolReader {
 public:
  // Reports that end at or before `position` of the metric stream are left out, and so are the
  // problems among them. The stream is the concatenation of the bodies of metric and report
  // records; an attempt has only one of the two kinds. `parameter_id`: for reports that do not name
  // one. `objective`: the metric whose presence makes a report a result.
  SpoolReader(std::string job_id, UniqueFd spool, std::uint64_t position,
              ParameterId parameter_id = {}, std::string objective = "default");

  // Appends new events, from as many bytes as `buffer` holds; returns true if there may be more.
  // With `late` all reports are late; those after a stop record always are.
  bool read(std::span<char> buffer, bool late, std::vector<TrialEvent>& events);
  // The spool will not grow any more, and all of it was read: an incomplete metric is now an error.
  void finish(bool late, std::vector<TrialEvent>& events);

  // Makes a final report after all others, from a result that the attempt did not report as its
  // final one. Nothing if an earlier manager has had it (see `position`).
  std::optional<TrialReport> final_report(json value, double time) const;
  bool final_wanted() const { return position_ <= stream_; }

  // The last report record that has a number for the objective; null if there is none.
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
  std::uint64_t stream_ = 0;  // bytes of the metric stream that were read
  std::uint64_t position_;    // reports up to here are left out
  ParameterId parameter_id_;
  std::string objective_;
  std::int64_t printed_ = 0;  // report records so far, left-out ones included
  json last_;
  double time_ = 0;  // of the newest metric record
  AttemptFacts facts_;
};

}  // namespace attune

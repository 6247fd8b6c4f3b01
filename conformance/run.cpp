#include "conformance/run.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/terminal_text.h"
#include "conformance/assessor_checks.h"
#include "conformance/tuner_checks.h"

namespace attune::conformance {
namespace {

class Printer {
 public:
  explicit Printer(std::FILE* out) : out_(out) {}

  void line(const std::string& text) {
    std::fputs((terminal_line(text) + "\n").c_str(), out_);
    std::fflush(out_);  // a check may take seconds
  }

  void verdict(std::string_view name, std::string_view demand, const Findings& findings) {
    const bool not_applicable = findings.examined() == 0;
    const char* word = findings.failed() ? "failed" : not_applicable ? "not applicable" : "ok";
    line(fmt::format("  {:16}{}", word, name));
    if (findings.failed() > 0) line(fmt::format("      {}", demand));
    for (const Finding& finding : findings.list()) {
      line(fmt::format("      {}", in_words(finding)));
    }
    if (const std::size_t more = findings.failed() - findings.list().size(); more > 0) {
      line(fmt::format("      and {} more", more));
    }
    for (const std::string& why : findings.skipped()) {
      line(fmt::format("      {}{}", not_applicable ? "" : "in part: ", why));
    }
    (findings.failed() ? failed_ : not_applicable ? not_applicable_ : ok_) += 1;
  }

  // What cannot be checked at all.
  void refuse(const std::string& why) {
    line(why);
    ++failed_;
  }

  int summary() {
    line(fmt::format("{} ok, {} failed, {} not applicable", ok_, failed_, not_applicable_));
    return failed_ == 0 ? 0 : 1;
  }

 private:
  std::FILE* out_;
  int ok_ = 0, failed_ = 0, not_applicable_ = 0;
};

void check_tuner(const TunerEntry& entry, const Run& run, Printer& printer) {
  printer.line("tuner " + entry.name);
  TunerSubject subject{.entry = entry, .arguments = run.arguments, .quick = run.quick};
  if (run.quick) subject.step = 3;
  Findings prepared;
  prepare(subject, prepared);
  printer.verdict("declares its arguments, and accepts a search space",
                  "It has a summary, each argument has help, the defaults are accepted, an unknown "
                  "argument is an error, and it accepts at least one search space.",
                  prepared);
  if (prepared.failed() > 0) return;
  for (const TunerCheck& check : tuner_checks()) {
    printer.verdict(check.name, check.demand, run_check(check, subject));
  }
}

void check_assessor(const AssessorEntry& entry, const Run& run, Printer& printer) {
  printer.line("assessor " + entry.name);
  const AssessorSubject subject{.entry = entry, .arguments = run.arguments};
  for (const AssessorCheck& check : assessor_checks()) {
    printer.verdict(check.name, check.demand, run_check(check, subject));
  }
}

}  // namespace

int run_conformance(const TunerRegistry& tuners, const AssessorRegistry& assessors, const Run& run,
                    std::FILE* out) {
  Printer printer(out);
  for (auto at = run.names.begin(); at != run.names.end(); ++at) {
    const std::string& name = *at;
    if (std::find(run.names.begin(), at, name) != at) continue;
    const auto tuner = tuners.find(name, "tuner");
    const auto assessor = assessors.find(name, "assessor");
    if (tuner) check_tuner(**tuner, run, printer);
    if (assessor) check_assessor(**assessor, run, printer);
    if (!tuner && !assessor) {
      printer.refuse(tuner.error().message);
      printer.line(assessor.error().message);
    }
  }
  return printer.summary();
}

}  // namespace attune::conformance

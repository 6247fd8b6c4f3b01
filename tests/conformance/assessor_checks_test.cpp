#include "conformance/assessor_checks.h"

#include <catch2/catch.hpp>
#include <set>

#include "base/saved_numbers.h"

namespace attune::assessor_checks_test {

using namespace conformance;

enum class Fault {
  none,
  no_help,
  names_another_trial,
  no_reason,
  differs,
  forgets_when_saved,
  loads_anything,
  counts_unknown_ends,
};

// Stops every fifth report.
class FaultyAssessor : public Assessor {
 public:
  FaultyAssessor(Fault fault, int instance) : fault_(fault), instance_(instance) {}

  Decision assess(TrialId trial, std::span<const Report>) override {
    known_ = true;
    if (++count_ % 5 != 0) return {trial, Action::keep_going};
    if (fault_ == Fault::names_another_trial) ++trial;
    std::string reason = fault_ == Fault::no_reason ? "" : "the fifth";
    if (fault_ == Fault::differs) reason += std::to_string(instance_);
    return {trial, Action::stop, std::move(reason)};
  }
  void trial_end(TrialId, End) override {
    if (known_ || fault_ == Fault::counts_unknown_ends) ++count_;
  }
  json save() const override { return {{"count", count_}, {"known", std::int64_t{known_}}}; }
  Result<void> load(const json& state) override {
    if (fault_ == Fault::loads_anything && state.is_string()) return {};
    const std::int64_t count = TRY(integer_at(state, "count"));
    known_ = TRY(integer_at(state, "known")) != 0;
    count_ = fault_ == Fault::forgets_when_saved ? 0 : count;
    return {};
  }

 private:
  Fault fault_;
  int instance_;
  std::int64_t count_ = 0;
  bool known_ = false;
};

AssessorSubject subject(Fault fault) {
  AssessorEntry entry;
  entry.name = "Faulty";
  entry.summary = "stops every fifth report";
  entry.arguments = {
      {.name = "x", .fallback = 1, .help = fault == Fault::no_help ? "" : "a number"}};
  const auto instances = std::make_shared<int>(0);
  entry.make = [fault, instances](const json&, const Context&,
                                  Rng) -> Result<std::unique_ptr<Assessor>> {
    return std::make_unique<FaultyAssessor>(fault, ++*instances);
  };
  return {.entry = std::move(entry)};
}

std::set<std::string> failed_checks(const AssessorSubject& subject) {
  std::set<std::string> failed;
  for (const AssessorCheck& check : assessor_checks()) {
    if (run_check(check, subject).failed() > 0) failed.emplace(check.name);
  }
  return failed;
}

TEST_CASE("assessor checks: an honest one passes all, and each check sees its fault") {
  CHECK(failed_checks(subject(Fault::none)).empty());
  const auto [fault, check] = GENERATE(table<Fault, std::string>({
      {Fault::no_help, "arguments are declared, defaulted and checked"},
      {Fault::names_another_trial,
       "each decision is about the trial, and has a reason unless it goes on"},
      {Fault::no_reason, "each decision is about the trial, and has a reason unless it goes on"},
      {Fault::differs, "same calls, same decisions"},
      {Fault::forgets_when_saved, "saved and loaded anywhere, the same rest"},
      {Fault::loads_anything, "damaged states are errors and change nothing"},
      {Fault::counts_unknown_ends, "the end of an unknown trial is nothing"},
  }));
  CAPTURE(check);
  CHECK(failed_checks(subject(fault)).contains(check));
}

TEST_CASE("assessor checks: of one that does not save nothing is demanded twice") {
  AssessorSubject differs = subject(Fault::differs);
  differs.entry.saves = false;
  CHECK(failed_checks(differs).empty());
}

}  // namespace attune::assessor_checks_test

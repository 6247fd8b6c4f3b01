#include "trial/decision_wait.h"

#include <algorithm>
#include <thread>
#include <utility>

#include "tests/trial/trial_folder.h"
#include "trial/trial.h"

namespace attune::decision_wait_test {

constexpr double kLong = 600;

TEST_CASE("decision: without the file nobody waits") {
  const Folder folder;
  DecisionWait(folder.path / "answered", kLong).wait_for(1);
}

TEST_CASE("decision: a wait in vain is not repeated until somebody answers") {
  const Folder folder;
  folder.write("answered", "1");
  DecisionWait patient(folder.path / "answered", 0.01);
  patient.wait_for(1);  // decided
  patient.wait_for(2);  // in vain
  DecisionWait impatient(folder.path / "answered", 0);
  impatient.wait_for(2);
  std::thread answers([&] {
    std::filesystem::resize_file(folder.path / "answered", 2);
    std::filesystem::resize_file(folder.path / "answered", 3);
  });
  DecisionWait(folder.path / "answered", kLong).wait_for(3);
  answers.join();
  patient.wait_for(3);
}

TEST_CASE("decision: a wait ends when the file goes") {
  const Folder folder;
  folder.write("answered", "");
  std::thread ends([&] { std::filesystem::remove(folder.path / "answered"); });
  DecisionWait(folder.path / "answered", kLong).wait_for(1);
  ends.join();
  CHECK_FALSE(std::filesystem::exists(folder.path / "answered"));
}

TEST_CASE("decision: a report returns when it is answered, and a final result at once") {
  ManagedFolder folder;
  folder.write(".nni/answered", "");
  Trial trial = Trial::from_environment().value();
  REQUIRE(trial.next_parameters());
  // Counts ends of records: Catch2's assertions, which values() makes, belong to one thread.
  std::thread manager([&] {
    for (std::uintmax_t count = 1; count <= 2; ++count) {
      const auto reports = [&] { return std::ranges::count(folder.text(".nni/metrics"), '\n'); };
      while (std::cmp_less(reports(), count)) std::this_thread::yield();
      std::filesystem::resize_file(folder.path / ".nni/answered", count);
    }
  });
  for (std::uintmax_t count = 1; count <= 2; ++count) {
    CHECK(trial.report(0.5).has_value());
    CHECK(std::filesystem::file_size(folder.path / ".nni/answered") >= count);
  }
  CHECK(trial.final(1).has_value());
  manager.join();
}

TEST_CASE("decision: ATTUNE_DECISION_SECONDS is how long a report waits at most") {
  ManagedFolder folder;
  folder.write(".nni/answered", "");
  folder.environment.set("ATTUNE_DECISION_SECONDS", "0");
  Trial trial = Trial::from_environment().value();
  REQUIRE(trial.next_parameters());
  CHECK(trial.report(0.5).has_value());
  folder.environment.set("ATTUNE_DECISION_SECONDS", "soon");
  CHECK_THAT(Trial::from_environment().error().message,
             Catch::Contains("ATTUNE_DECISION_SECONDS is \"soon\""));
}

}  // namespace attune::decision_wait_test

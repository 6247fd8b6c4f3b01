#pragma once
// What a check has found out about an algorithm.
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace attune::conformance {

// Of an algorithm that says of itself that it does not save.
inline constexpr std::string_view kDoesNotSave =
    "it says that it does not save, so its answers need not be the same again";

struct Finding {
  std::string where;        // the search space, or the place in a script; empty: no one place
  std::optional<int> turn;  // of the experiment on this space, from 0
  std::string expected;     // a sentence's part: "a reason of each stop"
  std::string came;
};

// Thrown by Findings::require(), and caught by Findings::attempt(). It never leaves the room.
struct CannotGoOn {};

class Findings {
 public:
  // Of more findings than these only the number is kept: they mostly have the same cause.
  static constexpr std::size_t kMost = 10;

  // Where the following demands are made.
  void enter(std::string where);
  void set_turn(int turn) { turn_ = turn; }

  // Demands that `holds`. `came` returns the text of what came instead; it is called only then.
  template <class Came>
  bool expect(bool holds, std::string_view expected, Came&& came) {
    ++examined_;
    if (!holds) add(expected, std::forward<Came>(came)());
    return holds;
  }
  // The same for what the rest of the check cannot do without.
  template <class Came>
  void require(bool holds, std::string_view expected, Came&& came) {
    if (!expect(holds, expected, std::forward<Came>(came))) throw CannotGoOn();
  }
  // Demands that both are the same, in the same order. `expected` says what they are.
  void expect_same(const std::vector<std::string>& came, const std::vector<std::string>& before,
                   std::string_view expected);
  // The same of two texts. A state may be large: the finding shows where they differ.
  void expect_same(std::string_view came, std::string_view before, std::string_view expected);

  // Runs part of a check. What ends it early is a finding, and the next part can follow: a demand
  // of require(), or an algorithm that fails (AlgorithmFailure and other runtime errors).
  template <class Part>
  void attempt(Part&& part) {
    try {
      part();
    } catch (const CannotGoOn&) {
      // It is among the findings.
    } catch (const std::runtime_error& failure) {
      expect(false, "an answer", [&] { return std::string(failure.what()); });
    }
  }

  // The check, or a part of it, does not apply to this algorithm.
  void skip(std::string_view why);

  const std::vector<Finding>& list() const { return list_; }
  std::size_t failed() const { return failed_; }      // the list, and those that are not kept
  std::size_t examined() const { return examined_; }  // how many demands were made
  const std::vector<std::string>& skipped() const { return skipped_; }  // reasons, each once

 private:
  void add(std::string_view expected, const std::string& came);

  std::string where_;
  std::optional<int> turn_;
  std::vector<Finding> list_;
  std::vector<std::string> skipped_;
  std::size_t failed_ = 0, examined_ = 0;
};

// One line: "search space "one real", turn 3: expected ..., came ...".
std::string in_words(const Finding& finding);

}  // namespace attune::conformance

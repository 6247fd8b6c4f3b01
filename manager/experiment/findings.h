#pragma once
// Collects the mistakes in files that a person has written, so that one error can list all of them:
//   experiment.yaml:12:3: tuner.nam: unknown key; did you mean "name"?
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace attune {

// A place in a text, counted from 1; a column counts bytes. Line 0: unknown.
struct Mark {
  int line = 1;
  int column = 1;
};

// The place of a byte of the text. `byte` counts from 0, and is at most text.size().
Mark mark_at(std::string_view text, std::size_t byte);

struct Finding {
  std::string file;
  std::string key;  // "tuner.name"; empty: the file as a whole
  Mark at;
  std::string message;  // what is wrong, and the cure

  std::string text() const;
};

class Findings {
 public:
  // Ignores a second finding about the same key of a file, since it is usually a consequence of the
  // first one. Findings with an empty key are all kept.
  void add(Finding finding);
  // Later findings about this key are ignored: they are consequences of another finding.
  void forgive(const std::string& file, const std::string& key);

  bool empty() const { return all_.empty(); }
  // Whether add() or forgive() has named this key, or one inside of it.
  bool about(const std::string& file, const std::string& key) const;
  // By file, in the order in which files were first named; then by line and column.
  std::vector<Finding> sorted() const;
  // An error that lists the findings, one a line; the first line gives their number, if there are
  // several. At most 100 are listed. No error if there are none.
  Result<void> result() const;

 private:
  std::vector<Finding> all_;
  std::set<std::pair<std::string, std::string>> known_;  // file and key, of add() and forgive()
};

}  // namespace attune

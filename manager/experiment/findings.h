#pragma once
// What is wrong with the files that a person has written: all of it, not only what comes first.
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

// Of a byte of the text, counted from 0; at most the text's size.
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
  // Only the first one about a key of a file is kept: what follows about it is a consequence.
  void add(Finding finding);
  // Whatever is added about that key later is a consequence of another finding, and not kept.
  void forgive(const std::string& file, const std::string& key);

  bool empty() const { return all_.empty(); }
  // Whether there is one, or one is forgiven, about the key or what it holds.
  bool about(const std::string& file, const std::string& key) const;
  // In the order in which the files were first named, and of their lines.
  std::vector<Finding> sorted() const;
  // An error with all of them, one a line; below a line with their number when there are several.
  Result<void> result() const;

 private:
  std::vector<Finding> all_;
  std::set<std::pair<std::string, std::string>> known_;  // file and key
};

}  // namespace attune

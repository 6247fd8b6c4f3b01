#pragma once
// Where a command prints, and functions that format its output.
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "base/json.h"

namespace attune {

struct Console {
  std::FILE* out = stdout;
  std::FILE* err = stderr;
  std::FILE* in = nullptr;  // where a person can answer questions; nullptr: nobody can
  std::size_t width = 0;    // of the terminal in characters; 0: `out` is no terminal
  double now = 0;           // seconds since 1970-01-01 UTC
};

void print(const Console& console, const std::string& text);
void print_text(const Console& console, const std::string& text);  // through terminal_text()
void print_json(const Console& console, const json& value);        // on one line

// A table of text. Columns are as wide as their widest cell, with two blanks between them. Line
// ends and tabs in a cell become blanks. text() cuts lines to `width` characters; 0: does not cut.
class TextTable {
 public:
  explicit TextTable(std::vector<std::string> headings) : rows_{std::move(headings)} {}

  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.size() == 1; }
  std::string text(std::size_t width) const;

 private:
  std::vector<std::vector<std::string>> rows_;
};

// Prints a JSON array element by element, so that it need not fit into memory.
class JsonArray {
 public:
  explicit JsonArray(const Console& console) : console_(console) { print(console_, "["); }
  void add(const json& element);
  void end() { print(console_, "]\n"); }

 private:
  const Console& console_;
  bool first_ = true;
};

std::string time_text(double time);      // 2026-11-20 10:01:56, local time; empty for 0
std::string bytes_text(double bytes);    // 12.3 MB
std::string number_text(double number);  // 0.98765

}  // namespace attune

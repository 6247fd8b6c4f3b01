#pragma once
#include <stdio.h>
#include <stdlib.h>

#include <catch2/catch.hpp>
#include <string>

#include "manager/cli/commands/console.h"
#include "manager/cli/commands/views.h"

namespace attune {

// A console whose output is a text.
class Printed {
 public:
  explicit Printed(std::size_t width = 0) {
    console.out = ::open_memstream(&out_, &out_size_);
    console.err = ::open_memstream(&err_, &err_size_);
    console.width = width;
    console.now = 1100;
  }
  Printed(const Printed&) = delete;
  Printed& operator=(const Printed&) = delete;
  ~Printed() {
    std::fclose(console.out);
    std::fclose(console.err);
    std::free(out_);
    std::free(err_);
  }
  std::string out() {
    std::fflush(console.out);
    return {out_, out_size_};
  }
  std::string err() {
    std::fflush(console.err);
    return {err_, err_size_};
  }

  Console console;

 private:
  char* out_ = nullptr;
  char* err_ = nullptr;
  std::size_t out_size_ = 0, err_size_ = 0;
};

// What the view of these options prints.
template <class Options>
std::string printed(const Options& options) {
  Printed printed;
  const auto result = view(options, printed.console);
  INFO((result ? "" : result.error().message));
  REQUIRE(result.has_value());
  CHECK(*result == kExitOk);
  return printed.out();
}

inline bool contains(const std::string& text, const std::string& part) {
  INFO(text);
  return text.find(part) != std::string::npos;
}

}  // namespace attune

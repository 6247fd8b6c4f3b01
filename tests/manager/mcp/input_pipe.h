#pragma once
#include <unistd.h>

#include <string>
#include <string_view>

#include "base/check.h"
#include "os/unique_fd.h"

namespace attune {

// A pipe from a test that plays the client. What is written at once must fit into the pipe (64 kB),
// unless another thread reads.
class InputPipe {
 public:
  InputPipe() {
    int ends[2] = {};
    ATTUNE_CHECK(::pipe(ends) == 0);
    read_end = UniqueFd(ends[0]);
    write_end = UniqueFd(ends[1]);
  }
  void write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ::write(write_end.get(), bytes.data(), bytes.size());
      ATTUNE_CHECK(count > 0);
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
  }
  void close() { write_end = UniqueFd(); }

  UniqueFd read_end, write_end;
};

}  // namespace attune

#include "os/standard_output.h"

#include <string.h>

#include <cerrno>
#include <cstdio>

namespace attune {

int finish_output(int code, const char* program) {
  const bool failed_before = std::ferror(stdout) != 0;
  errno = 0;
  const bool flushed = std::fflush(stdout) == 0;
  int error = flushed ? 0 : errno;
  if (flushed && !failed_before) return code;
  if (error == 0) {
    // The stream does not keep the reason; the next write most likely fails for the same one.
    std::clearerr(stdout);
    if (std::fputc('\n', stdout) == EOF || std::fflush(stdout) != 0) error = errno;
  }
  if (error != EPIPE)
    std::fprintf(stderr, "%s: cannot write standard output: %s\n", program,
                 error == 0 ? "a part of it is missing" : strerror(error));
  return code == 0 ? 1 : code;
}

void put_text(std::FILE* stream, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stream);
}

}  // namespace attune

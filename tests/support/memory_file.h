#pragma once
// A FILE whose content is a text in memory, for what prints.
#include <stdio.h>
#include <stdlib.h>

#include <stdexcept>
#include <string>

namespace attune {

class MemoryFile {
 public:
  MemoryFile() : file_(::open_memstream(&text_, &size_)) {
    if (!file_) throw std::runtime_error("open_memstream fails");
  }
  ~MemoryFile() {
    std::fclose(file_);
    std::free(text_);
  }
  MemoryFile(const MemoryFile&) = delete;
  MemoryFile& operator=(const MemoryFile&) = delete;

  std::FILE* file() { return file_; }
  // What was printed up to now.
  std::string text() {
    std::fflush(file_);
    return {text_, size_};
  }

 private:
  char* text_ = nullptr;
  std::size_t size_ = 0;
  std::FILE* file_;  // last: the other two are made before open_memstream() writes to them
};

}  // namespace attune

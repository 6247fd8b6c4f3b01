#pragma once
// The memories of the experiments, in this process and in files. Any thread may call; calls take
// turns.
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "katib/memory.h"

namespace attune::katib {

class Experiments {
 public:
  // `folder`: for a file of each experiment, which is written before an answer leaves; empty: no
  // files. The registry must outlive the object.
  Experiments(const TunerRegistry& tuners, std::string folder, Log log)
      : surroundings_{tuners, std::move(log)}, folder_(std::move(folder)) {}

  // Memory::answer(). A file that cannot be written is no error, but a line in the log: the next
  // request says what is needed, too.
  Result<Memory::Reply> answer(const Memory::Request& request,
                               const std::function<bool()>& cancelled);

 private:
  struct Entry {
    std::unique_ptr<Memory> memory;
    std::uint64_t used = 0;  // the call that used it last
  };
  Memory& memory_of(const Plan& plan);
  std::string path_of(const Plan& plan) const;

  const Surroundings surroundings_;
  const std::string folder_;
  std::mutex mutex_;  // protects all that follows
  std::map<std::string, Entry> entries_;
  std::uint64_t calls_ = 0;
};

}  // namespace attune::katib

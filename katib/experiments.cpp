#include "katib/experiments.h"

#include <fmt/format.h>

#include <algorithm>

#include "os/atomic_file.h"

namespace attune::katib {
namespace {

// Katib starts a server for each experiment. Whoever sends many experiments to one gets answers,
// too: those that are forgotten here are known from the file or from the request.
constexpr std::size_t kMostExperiments = 8;

json read_saved(const std::string& path, const Log& log) {
  auto text = read_file(path);
  if (!text) {
    log.info("no saved memory: {}", text.error().message);
    return nullptr;
  }
  auto saved = parse_json(*text);
  if (saved) return *std::move(saved);
  log.warning("{} is not used: {}", path, saved.error().message);
  return nullptr;
}

}  // namespace

std::string Experiments::path_of(const Plan& plan) const {
  return fmt::format("{}/{:016x}.json", folder_, hash_of(plan.experiment));
}

Memory& Experiments::memory_of(const Plan& plan) {
  Entry& entry = entries_[plan.experiment];
  entry.used = ++calls_;
  if (!entry.memory || entry.memory->identity() != plan.identity) {
    json saved = nullptr;
    if (!entry.memory && !folder_.empty()) saved = read_saved(path_of(plan), surroundings_.log);
    entry.memory = Memory::make(plan, saved, surroundings_);
  }
  Memory& memory = *entry.memory;
  if (entries_.size() > kMostExperiments) {
    entries_.erase(
        std::ranges::min_element(entries_, {}, [](const auto& each) { return each.second.used; }));
  }
  return memory;
}

Result<Memory::Reply> Experiments::answer(const Memory::Request& request,
                                          const std::function<bool()>& cancelled) {
  const Plan plan = TRY(read_plan(request.experiment(), surroundings_.tuners));
  const std::lock_guard lock(mutex_);
  Memory& memory = memory_of(plan);
  auto reply = memory.answer(plan, request, cancelled);
  if (reply && !folder_.empty()) {
    auto written = write_file_atomically(path_of(plan), dump_json(memory.save()));
    if (!written) surroundings_.log.error("{}", written.error().message);
  }
  return reply;
}

}  // namespace attune::katib

#include "dispatcher/message_size.h"

namespace attune {
namespace {

std::size_t held(const Initialize& c) { return memory_of(c.search_space) + memory_of(c.earlier); }
std::size_t held(const UpdateSearchSpace& c) { return memory_of(c.search_space); }
std::size_t held(const ReportMetricData& c) { return memory_of(c.value); }
std::size_t held(const ImportData& c) {
  std::size_t bytes = c.records.size() * sizeof(ImportData::Record);
  for (const auto& record : c.records) {
    bytes += memory_of(record.parameter) + memory_of(record.value);
  }
  return bytes;
}
std::size_t held(const AddCustomizedTrialJob& c) {
  std::size_t bytes = 0;
  for (const auto& trial : c.trials) bytes += sizeof trial + memory_of(trial.parameters);
  return bytes;
}

std::size_t held(const Offer& m) { return memory_of(m.parameters); }
std::size_t held(const ParameterForJob& m) { return memory_of(m.parameters); }
std::size_t held(const Decided& m) { return memory_of(m.last_value) + memory_of(m.expected); }
std::size_t held(const Noted& m) { return m.notes.size(); }

template <class Other>
std::size_t held(const Other&) {
  return 0;
}

// What a message costs beside what it holds: itself, its place in the queue, short texts.
constexpr std::size_t kMessage = 512;

}  // namespace

std::size_t memory_of(const Command& command) {
  return std::visit([](const auto& c) { return held(c); }, command);
}

std::size_t memory_of(const WorkerMessage& message) {
  return kMessage + std::visit([](const auto& m) { return held(m); }, message);
}

}  // namespace attune

// Any spool of an attempt, which another process wrote, and perhaps a trial that wanted to: reports
// in order of their positions, the same however the file grew, and none twice for a manager that
// goes on from one of them.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>

#include "backends/report/spool_reader.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

static UniqueFd file_of(std::string_view bytes) {
  UniqueFd file(::memfd_create("spool", MFD_CLOEXEC));
  ATTUNE_CHECK(::write(file.get(), bytes.data(), bytes.size()) == std::ssize(bytes));
  return file;
}

// Positions of the reports.
static std::vector<std::uint64_t> read(std::string_view bytes, std::uint64_t from,
                                       std::size_t piece) {
  SpoolReader reader("job", file_of(bytes), from, ParameterId(std::int64_t{1}));
  std::vector<TrialEvent> events;
  std::array<char, 4096> buffer{};
  while (reader.read(std::span(buffer).first(piece), false, events)) {
  }
  reader.finish(false, events);
  std::vector<std::uint64_t> positions;
  for (const TrialEvent& event : events) {
    if (const auto* report = std::get_if<TrialReport>(&event))
      positions.push_back(report->position);
  }
  return positions;
}

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const auto choice = static_cast<unsigned char>(input.front());
  const std::string_view bytes = input.substr(1);
  const auto all = read(bytes, 0, 4096);
  ATTUNE_CHECK(std::ranges::is_sorted(all));
  ATTUNE_CHECK(all == read(bytes, 0, 1 + choice));
  if (all.empty()) return;
  const std::uint64_t from = all[choice % all.size()];
  const auto later = read(bytes, from, 4096);
  for (const std::uint64_t position : later) ATTUNE_CHECK(position > from);
  const UniqueFd file = file_of(bytes);
  read_facts(file.get(), bytes.size());
}

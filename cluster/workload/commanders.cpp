#include "cluster/workload/commanders.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/arguments.h"
#include "cluster/workload/factories.h"

namespace attune {
namespace {

struct Entry {
  std::string_view name;
  Result<std::unique_ptr<Commander>> (*make)(const json& settings, std::uint64_t seed);
};

Result<std::unique_ptr<Commander>> make_trials(const json& settings, std::uint64_t /*seed*/) {
  TRY(resolve_arguments("trials", {}, settings));
  return nullptr;
}

constexpr std::array kEntries = {Entry{"trials", make_trials}, Entry{"naive", make_naive},
                                 Entry{"solo", make_solo}, Entry{"one_vs_one", make_one_vs_one}};

}  // namespace

std::vector<std::string> commander_names() {
  std::vector<std::string> names;
  for (const Entry& each : kEntries) names.emplace_back(each.name);
  return names;
}

Result<std::unique_ptr<Commander>> make_commander(std::string_view name, const json& settings,
                                                  std::uint64_t seed) {
  for (const Entry& each : kEntries) {
    if (each.name == name) return each.make(settings, seed);
  }
  const std::string near = nearest_name(name, commander_names());
  return fail(fmt::format("unknown commander \"{}\"{} Known: {}", name,
                          near.empty() ? "." : fmt::format("; did you mean \"{}\"?", near),
                          fmt::join(commander_names(), ", ")));
}

}  // namespace attune

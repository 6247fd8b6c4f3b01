#include "rungs/level_arguments.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "rungs/levels.h"

namespace attune {
namespace {

// "1, 3,9": positive and ascending. Nothing: it is not so.
std::optional<std::vector<std::int64_t>> parse_rung_levels(std::string_view text) {
  const auto skip_blanks = [&] {
    while (text.starts_with(' ')) text.remove_prefix(1);
  };
  std::vector<std::int64_t> levels;
  while (true) {
    skip_blanks();
    std::int64_t level = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), level);
    const std::int64_t before = levels.empty() ? 0 : levels.back();
    if (error != std::errc() || level <= before) return std::nullopt;
    levels.push_back(level);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    skip_blanks();
    if (text.empty()) return levels;
    if (!text.starts_with(',')) return std::nullopt;
    text.remove_prefix(1);
  }
}

Result<std::vector<std::int64_t>> given_rung_levels(const std::string& name, const json& args,
                                                    std::size_t most) {
  const std::int64_t max_t = args.at("max_t");
  auto levels = parse_rung_levels(args.at("rung_levels").get_ref<const std::string&>());
  if (!levels || levels->back() > max_t) {
    return fail_at(name, "ascending integers from 1 to max_t expected, as in \"1,3,9\"");
  }
  if (levels->size() > most) return fail_at(name, fmt::format("more than {} rungs", most));
  if (levels->back() == max_t) levels->pop_back();  // there the trials end
  return *std::move(levels);
}

}  // namespace

Result<std::vector<std::int64_t>> rung_levels(std::string_view owner, const json& args,
                                              std::size_t most) {
  const auto name = [&](const char* argument) { return fmt::format("{}.{}", owner, argument); };
  const json& step = args.at("rung_increment");
  if (!args.at("rung_levels").is_null()) {
    if (step.is_null()) return given_rung_levels(name("rung_levels"), args, most);
    return fail_at(name("rung_levels"), "rung_increment says another thing; give one of them");
  }
  const std::int64_t max_t = args.at("max_t"), grace = args.at("grace_period");
  if (grace > max_t) return fail_at(name("grace_period"), "must be at most max_t");
  std::optional<std::int64_t> increment;
  if (!step.is_null()) {
    increment = step.get<std::int64_t>();
    if ((max_t - grace) / *increment >= static_cast<std::int64_t>(most)) {
      return fail_at(name("rung_increment"), fmt::format("it makes more than {} rungs", most));
    }
  }
  return syne_levels(grace, args.at("reduction_factor").get<double>(), max_t, increment);
}

}  // namespace attune

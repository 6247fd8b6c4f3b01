#include "cluster/pool/fields.h"

#include <fmt/format.h>

#include "base/names.h"
#include "base/saved_numbers.h"

namespace attune {

Result<std::uint64_t> count_at(const json& object, std::string_view key) {
  const std::int64_t number = TRY(integer_at(object, key));
  if (number < 0) return fail(fmt::format("{}: 0 or more is wanted", key));
  return static_cast<std::uint64_t>(number);
}

Result<bool> flag_at(const json& object, std::string_view key) {
  const json flag = TRY(value_at(object, key));
  if (!flag.is_boolean()) return fail(fmt::format("{}: true or false is wanted", key));
  return flag.get<bool>();
}

Result<std::vector<std::string>> texts_at(const json& object, std::string_view key) {
  std::vector<std::string> texts;
  for (const json& each : TRY(array_at(object, key))) {
    if (!each.is_string()) return fail(fmt::format("{}: texts are wanted in it", key));
    texts.push_back(each.get<std::string>());
  }
  return texts;
}

Result<std::string> name_at(const json& object, std::string_view key) {
  std::string name = TRY(text_at(object, key));
  TRY(check_name(key, name));
  return name;
}

Result<std::vector<std::string>> names_at(const json& object, std::string_view key) {
  std::vector<std::string> names = TRY(texts_at(object, key));
  for (const std::string& name : names) TRY(check_name(key, name));
  return names;
}

Result<HeldLease> held_at(const json& message) {
  HeldLease held{TRY(name_at(message, "task")), 0};
  held.lease = TRY(count_at(message, "lease"));
  if (held.lease == 0) return fail("lease: a positive number is wanted");
  return held;
}

}  // namespace attune

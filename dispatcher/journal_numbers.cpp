#include "dispatcher/journal_numbers.h"

#include "base/json.h"

namespace attune {
namespace {

bool is_transient(std::string_view answer) {
  if (answer.find("\"transient\"") == answer.npos) return false;
  const auto value = parse_json(answer);
  return value && value->is_object() && value->value("transient", json()) == true;
}

}  // namespace

bool is_numbered(RecordKind kind, std::string_view payload) {
  const std::string_view code = payload.substr(0, 2);
  switch (kind) {
    case RecordKind::command:
      return code != "IN";
    case RecordKind::answer:
      return code != "ID" && code != "ER" && !(code == "NO" && is_transient(payload.substr(2)));
    case RecordKind::kept:
      return true;
    default:
      return false;
  }
}

}  // namespace attune

#include "manager/trials/end_asked.h"

#include <array>
#include <utility>

namespace attune {
namespace {

using EndKind = EndAsked::Kind;

constexpr std::array kKinds = {
    std::pair{EndKind::complete, std::string_view("complete")},
    std::pair{EndKind::early_stop, std::string_view("early_stop")},
    std::pair{EndKind::by_user, std::string_view("by_user")},
    std::pair{EndKind::pause, std::string_view("pause")},
    std::pair{EndKind::fail, std::string_view("fail")},
    std::pair{EndKind::interrupt, std::string_view("interrupt")},
};

}  // namespace

std::string_view to_text(EndAsked::Kind kind) {
  for (const auto& [each, text] : kKinds) {
    if (each == kind) return text;
  }
  return "";
}

std::optional<EndAsked::Kind> end_kind_of(std::string_view text) {
  for (const auto& [kind, each] : kKinds) {
    if (each == text) return kind;
  }
  return std::nullopt;
}

}  // namespace attune

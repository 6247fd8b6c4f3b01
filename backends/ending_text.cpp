#include "backends/ending_text.h"

#include <array>
#include <utility>

namespace attune {
namespace {

constexpr std::array kEndings = {
    std::pair{Ending::succeeded, std::string_view("succeeded")},
    std::pair{Ending::failed, std::string_view("failed")},
    std::pair{Ending::signalled, std::string_view("signalled")},
    std::pair{Ending::out_of_memory, std::string_view("out_of_memory")},
    std::pair{Ending::lost, std::string_view("lost")},
    std::pair{Ending::restore_failed, std::string_view("restore_failed")},
    std::pair{Ending::stopped, std::string_view("stopped")},
    std::pair{Ending::paused, std::string_view("paused")},
};

}  // namespace

std::string_view to_text(Ending ending) {
  for (const auto& [each, text] : kEndings) {
    if (each == ending) return text;
  }
  return "";
}

std::optional<Ending> ending_of(std::string_view text) {
  for (const auto& [ending, each] : kEndings) {
    if (each == text) return ending;
  }
  return std::nullopt;
}

}  // namespace attune

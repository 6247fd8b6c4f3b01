#include "manager/trials/runner_events.h"

namespace attune {

std::string_view to_text(EventKind kind) {
  switch (kind) {
    case EventKind::warning:
      return "warning";
    case EventKind::notice:
      return "notice";
    case EventKind::interrupted:
      return "interrupted";
    case EventKind::update:
      return "update";
  }
  return "";
}

}  // namespace attune

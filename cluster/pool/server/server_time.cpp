#include "cluster/pool/server/server_time.h"

#include <algorithm>
#include <optional>

#include "base/json.h"
#include "base/saved_numbers.h"
#include "os/atomic_file.h"

namespace attune {
namespace {

constexpr std::size_t kMostBytes = 4096;

// The coordinator's time was `time` when Clock::now() was `now`.
struct Mark {
  double now = 0, time = 0;
};

Result<Mark> parse_mark(const std::string& text, const std::string& boot) {
  const json object = TRY(parse_json(text));
  if (TRY(text_at(object, "boot")) != boot) return fail("another boot");
  const Mark mark{TRY(number_at(object, "now")), TRY(number_at(object, "time"))};
  return mark;
}

}  // namespace

Result<double> time_at_begin(const std::filesystem::path& directory, const Clock& clock,
                             const std::string& boot, double newest) {
  const std::string path = (directory / kTimeFile).string();
  const double now = clock.now();
  const auto text = read_file(path, kMostBytes);
  const auto mark = text ? parse_mark(*text, boot) : Result<Mark>(fail("none"));
  const bool same = mark && !boot.empty() && mark->now <= now;
  const double time = std::max(same ? mark->time + (now - mark->now) : clock.wall(), newest);
  const json begun = {{"boot", boot}, {"now", now}, {"time", time}};
  TRY(write_file_atomically(path, dump_json(begun) + "\n"));
  return time;
}

std::string present_boot() {
  std::string boot = read_file("/proc/sys/kernel/random/boot_id").value_or("");
  return boot.substr(0, boot.find('\n'));
}

}  // namespace attune

#include "trial/auto_fields.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <time.h>
#include <unistd.h>

#include <cmath>

namespace attune {
namespace {

std::optional<double> number(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

// Counts are whole numbers as a rule, and are written as such.
json count(const std::optional<double>& value) {
  if (!value) return nullptr;
  if (std::abs(*value) < 0x1p53 && *value == std::trunc(*value)) {
    return static_cast<std::int64_t>(*value);
  }
  return *value;
}

void set_default(json& result, const char* name, json value) {
  if (!result.contains(name)) result[name] = std::move(value);
}

std::string first_address() {
  ifaddrs* all = nullptr;
  if (::getifaddrs(&all) != 0) return "127.0.0.1";
  std::string found = "127.0.0.1";
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != AF_INET ||
        (one->ifa_flags & IFF_LOOPBACK) != 0 || (one->ifa_flags & IFF_UP) == 0) {
      continue;
    }
    char text[INET_ADDRSTRLEN] = {};
    const void* address = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
    if (::inet_ntop(AF_INET, address, text, sizeof text) != nullptr) {
      found = text;
      break;
    }
  }
  ::freeifaddrs(all);
  return found;
}

}  // namespace

ComputingPlace ComputingPlace::here() {
  char name[256] = {};
  if (::gethostname(name, sizeof name - 1) != 0) name[0] = 0;
  return {::getpid(), name, first_address()};
}

void ResultCounters::complete(json& result, double seconds, double wall) {
  ++iteration_;
  ++iterations_since_restore_;
  seconds = number(result, "time_this_iter_s").value_or(seconds);
  time_total_ += seconds;
  time_since_restore_ += seconds;
  if (const auto steps = number(result, "timesteps_this_iter")) {
    timesteps_total_ = timesteps_total_.value_or(0) + *steps;
    timesteps_since_restore_ += *steps;
  }
  if (const auto episodes = number(result, "episodes_this_iter")) {
    episodes_total_ = episodes_total_.value_or(0) + *episodes;
  }
  set_default(result, "done", false);
  set_default(result, "timesteps_total", count(timesteps_total_));
  set_default(result, "episodes_total", count(episodes_total_));
  set_default(result, "training_iteration", iteration_);
  // Ray tests "if mean_loss", which leaves out 0. The same here, so that results of both can be
  // compared.
  if (const auto loss = number(result, "mean_loss"); loss && *loss != 0) {
    set_default(result, "neg_mean_loss", -*loss);
  }
  const auto now = static_cast<time_t>(wall);
  tm local{};
  ::localtime_r(&now, &local);
  char date[32] = {};
  ::strftime(date, sizeof date, "%Y-%m-%d_%H-%M-%S", &local);
  result["date"] = date;
  result["timestamp"] = static_cast<std::int64_t>(now);
  result["time_this_iter_s"] = seconds;
  result["time_total_s"] = time_total_;
  result["time_since_restore"] = time_since_restore_;
  result["timesteps_since_restore"] = count(timesteps_since_restore_);
  result["iterations_since_restore"] = iterations_since_restore_;
}

json ResultCounters::state() const {
  return {{"iteration", iteration_},
          {"timesteps_total", count(timesteps_total_)},
          {"time_total", time_total_},
          {"episodes_total", count(episodes_total_)}};
}

Result<void> ResultCounters::restore(const json& state) {
  const auto iteration = number(state, "iteration"), time = number(state, "time_total");
  if (!iteration || !time || !(*iteration >= 0 && *iteration < 0x1p53)) {
    return fail("the metadata of a checkpoint has no iteration or no time_total");
  }
  *this = {};
  iteration_ = static_cast<std::int64_t>(*iteration);
  time_total_ = *time;
  timesteps_total_ = number(state, "timesteps_total");
  episodes_total_ = number(state, "episodes_total");
  return {};
}

}  // namespace attune

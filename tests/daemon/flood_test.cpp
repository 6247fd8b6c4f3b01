// A manager that floods, or does not read: the memory of the real daemon stays under a bound that
// the limits give, and it still answers.
#include <algorithm>
#include <catch2/catch.hpp>
#include <fstream>
#include <stdexcept>

#include "tests/support/daemon_process.h"
#include "tests/support/transcript_text.h"

namespace attune::flood_test {

using std::chrono::milliseconds;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr std::size_t kFlood = std::size_t{4} << 20;
constexpr std::size_t kProgram = std::size_t{600} << 20;  // a sanitizer keeps what was freed
#else
constexpr std::size_t kFlood = std::size_t{200} << 20;
constexpr std::size_t kProgram = std::size_t{16} << 20;  // idle: code, libraries, a tuner, stacks
#endif

const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

// With limits that make the bound small: a frame is there as bytes that were read, as a frame, and
// as JSON, the queues are the tuner's, the assessor's, the workers' and what is to be written.
struct Small {
  std::size_t payload = std::size_t{1} << 20, queue = std::size_t{1} << 20, values = 20'000;
  std::size_t outstanding = 10'000, jobs = 10'000, histories = std::size_t{1} << 20;

  std::vector<std::string> arguments() const {
    auto list = DaemonProcess::exp_params({{"tuner", {{"name", "Random"}}},
                                           {"assessor", {{"name", "Medianstop"}}},
                                           {"capabilities", {"checkpoint"}}});
    const auto add = [&](const char* name, std::size_t value) {
      list.insert(list.end(), {std::string("--max-") + name, std::to_string(value)});
    };
    add("payload", payload);
    add("queue", queue);
    add("values", values);
    add("outstanding", outstanding);
    add("jobs", jobs);
    add("histories", histories);
    return list;
  }
  std::size_t bound() const {
    constexpr std::size_t kValue = 72;               // the most that a value of JSON costs
    constexpr std::size_t kTrial = 600, kJob = 600;  // with short ids
    constexpr std::size_t kReport = 12;              // in memory for each byte of its command
    return kProgram + 4 * payload + 3 * values * kValue + 6 * queue + outstanding * kTrial +
           jobs * kJob + kReport * histories;
  }
};

std::size_t most_memory(const DaemonProcess& daemon) {
  std::ifstream status("/proc/" + std::to_string(daemon.pid()) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoull(line.substr(6)) << 10;
  }
  FAIL("no VmHWM");
  return 0;
}

std::string frame(const std::string& code, const std::string& payload) {
  std::string bytes;
  if (!encode_frame({code, payload}, {}, bytes)) throw std::runtime_error("too large");
  return bytes;
}

// Writes `most` bytes of frames, reading none of the answers; fewer when the daemon no longer takes
// any. Returns the rest of a frame that was begun.
template <class Next>
std::string flood(DaemonProcess& daemon, std::size_t most, Next&& next) {
  std::string bytes;
  for (std::size_t sent = 0; sent < most;) {
    bytes.clear();
    while (bytes.size() < 65'536) bytes += next();
    const std::size_t taken = daemon.write_some(bytes, milliseconds(300));
    if (taken < bytes.size()) return bytes.substr(taken);
    sent += taken;
  }
  return {};
}

// What was answered before comes first.
void check_answers(DaemonProcess& daemon, std::size_t bound) {
  daemon.sync();
  INFO("memory: " << most_memory(daemon) << ", bound: " << bound);
  CHECK(most_memory(daemon) < bound);
  daemon.send("GE", "1");
  CHECK_THAT(outlines(daemon.sync()), Catch::Contains("TR ") || Catch::Contains("NO "));
  daemon.send("TE");
  CHECK(daemon.wait() == 0);
}

struct Flood {
  const char* name;
  std::size_t part;  // of the whole flood: some commands are work
  std::string (*next)(int number);
};

TEST_CASE("memory stays bounded whatever a manager floods the daemon with") {
  const auto row = GENERATE(values<Flood>({
      {"garbage in frames", 1, [](int) { return frame("ZZ", std::string(1000, '\x01')); }},
      {"JSON that is none", 1, [](int) { return frame("ME", std::string(60'000, '[')); }},
      {"commands that are not for it", 20, [](int) { return frame("KI", "\"A\""); }},
      {"many values", 10,
       [](int) {
         std::string list = "[";
         for (int i = 0; i < 15'000; ++i) list += "[],";
         return frame("FD", list + "[]]");
       }},
      {"unknown jobs", 20,
       [](int number) {
         return frame("ME", R"({"parameter_id":null,"trial_job_id":"job-)" +
                                std::to_string(number) +
                                R"(","type":"PERIODICAL","sequence":0,"value":"0.5"})");
       }},
      {"ever new steps", 20,
       [](int number) {
         return frame("ME",
                      R"({"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL","sequence":)" +
                          std::to_string(number * 2) + R"(,"value":"{\"default\":1,\"a\":2}"})");
       }},
      {"ends of unknown jobs", 20,
       [](int number) {
         return frame("EN", R"({"trial_job_id":"job-)" + std::to_string(number) +
                                R"(","event":"SUCCEEDED"})");
       }},
      {"what needs no answer", 20, [](int) { return frame("RC", "1") + frame("PI", ""); }},
  }));
  CAPTURE(row.name);
  const Small small;
  DaemonProcess daemon(small.arguments());
  daemon.send("IN", kSpace);
  daemon.send("GE", "2");
  CHECK(outlines(daemon.sync()) == "ID, TR 0, TR 1");
  int number = 0;
  const std::string rest = flood(daemon, kFlood / row.part, [&] { return row.next(number++); });
  daemon.write(rest);  // it reads all that needs no answer
  check_answers(daemon, small.bound());
}

TEST_CASE("memory stays bounded when a manager asks and does not read") {
  const auto row = GENERATE(values<Flood>({
      {"requests", 1, [](int) { return frame("GE", "50"); }},
      {"requests beyond all limits", 1, [](int) { return frame("GE", "1000000000"); }},
      {"pings", 1, [](int number) { return frame("PI", std::to_string(number)); }},
      {"checkpoints, of which the former are dropped", 1,
       [](int number) {
         return frame("CK", R"({"trial_job_id":"A","checkpoint":")" + std::string(900, 'c') +
                                std::to_string(number) + "\"}");
       }},
      {"parameters for a job", 1,
       [](int) {
         return frame("ME", R"({"parameter_id":0,"trial_job_id":"A","type":"REQUEST_PARAMETER"})");
       }},
  }));
  CAPTURE(row.name);
  const Small small;
  DaemonProcess daemon(small.arguments());
  daemon.send("IN", kSpace);
  daemon.send("GE", "2");
  daemon.send("ME", R"({"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL","value":"1"})");
  daemon.sync();
  int number = 0;
  std::string rest = flood(daemon, kFlood, [&] { return row.next(number++); });
  CHECK_FALSE(rest.empty());  // it stopped reading long before
  // Whoever reads can go on writing.
  while (true) {
    rest.erase(0, daemon.write_some(rest, milliseconds(0)));
    if (rest.empty()) break;
    REQUIRE(daemon.receive());
  }
  check_answers(daemon, small.bound());
}

}  // namespace attune::flood_test

// Whatever bytes come in: one clear line that says what is wrong, where, and how it began; then the
// documented reaction. A bad command of known length costs nothing but itself.
#include <algorithm>
#include <catch2/catch.hpp>

#include "tests/support/daemon_process.h"
#include "tests/support/transcript_text.h"

namespace attune::bad_input_test {

const std::string kSpace = R"({"x":{"_type":"uniform","_value":[0,1]}})";

std::vector<std::string> with_assessor() {
  return DaemonProcess::exp_params(
      {{"tuner", {{"name", "TPE"}}}, {"assessor", {{"name", "Medianstop"}}}});
}

std::string frame(const std::string& code, const std::string& payload) {
  std::string bytes;
  REQUIRE(encode_frame({code, payload}, {}, bytes));
  return bytes;
}

// Lines of the log of this level.
std::vector<std::string> lines(const std::string& log, const std::string& level) {
  std::vector<std::string> found;
  for (std::size_t at = 0; at < log.size();) {
    const std::size_t end = std::min(log.find('\n', at), log.size());
    const std::string line = log.substr(at, end - at);
    if (line.find("] " + level) != line.npos) found.push_back(line);
    at = end + 1;
  }
  return found;
}

struct Row {
  std::string bytes;
  std::vector<std::string> said;  // all in one line
};

TEST_CASE("a bad command is one line in the log, and the next command is answered") {
  const auto row = GENERATE(values<Row>({
      {frame("ZZ", "{\"a\":1}"), {"command 1", "unknown", "ZZ", "{\"a\":1}"}},
      {frame("GE", "{nope"), {"command 1", "RequestTrialJobs", "{nope"}},
      {frame("GE", "\"2\""), {"RequestTrialJobs", "an integer expected", "\"2\""}},
      {frame("GE", ""), {"RequestTrialJobs", "payload of 0 bytes"}},
      {frame("GE", "99999999999999999999"), {"RequestTrialJobs", "an integer expected"}},
      {frame("ME", "[]"), {"ReportMetricData", "an object expected"}},
      {frame("ME", "\xff\xfe\x01"), {"ReportMetricData", "\\xff\\xfe\\x01"}},
      {frame("ME", "{\"type\":\"PERIODICAL\xc3\x28\"}"), {"ReportMetricData", "\\xc3("}},
      {frame("ME", R"({"type":"LAST","value":"1"})"), {"PERIODICAL, FINAL", "LAST"}},
      {frame("ME", R"({"type":"FINAL"})"), {"\"value\" is missing"}},
      {frame("ME", R"({"type":"PERIODICAL","value":"1","sequence":-1})"), {"\"sequence\""}},
      {frame("ME", R"({"type":"FINAL","value":"1","parameter_id":[0]})"), {"\"parameter_id\""}},
      {frame("EN", "3"), {"TrialEnd", "an object expected"}},
      {frame("EN", R"({"event":"SUCCEEDED"})"), {"TrialEnd", "\"trial_job_id\" is missing"}},
      {frame("SS", "[1]"), {"UpdateSearchSpace", "search space object expected"}},
      {frame("SS", R"({"x":{"_type":"uniform","_value":[1,0]}})"), {"search_space.x._value"}},
      {frame("FD", "{}"), {"ImportData", "an array"}},
      {frame("AD", "true"), {"AddCustomizedTrialJob"}},
      {frame("KI", "\"A\""), {"KillTrialJob", "not for the daemon"}},
      {frame("IN", std::string(300, '[')), {"Initialize", "deeper than 256 levels"}},
  }));
  CAPTURE(row.bytes);
  DaemonProcess daemon(with_assessor());
  daemon.send("IN", kSpace);
  daemon.write(row.bytes);
  daemon.send("GE", "1");
  CHECK(outlines(daemon.sync()) == "ID, TR 0");
  const auto errors = lines(daemon.log(), "ERROR");
  REQUIRE(errors.size() == 1);
  for (const std::string& part : row.said) CHECK_THAT(errors[0], Catch::Contains(part));
  daemon.send("TE");
  CHECK(daemon.wait() == 0);
}

TEST_CASE("metrics that cannot be used cost nothing but themselves") {
  const auto payload = GENERATE(
      R"({"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL","sequence":0,"value":"\"text\""})",
      R"({"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL","sequence":0,"value":"{nope"})",
      R"({"parameter_id":0,"trial_job_id":"A","type":"PERIODICAL","sequence":0,"value":null})",
      R"({"parameter_id":0,"trial_job_id":"A","type":"FINAL","sequence":0,"value":"[1]"})",
      R"({"parameter_id":0,"trial_job_id":"A","type":"FINAL","sequence":0,"value":"{\"a\":1}"})");
  CAPTURE(payload);
  DaemonProcess daemon(with_assessor());
  daemon.send("IN", kSpace);
  daemon.send("GE", "1");
  daemon.send("ME", payload);
  daemon.send("GE", "1");
  CHECK(outlines(daemon.sync()) == "ID, TR 0, TR 1");
  CHECK(lines(daemon.log(), "ERROR").empty());
  const auto warnings = lines(daemon.log(), "WARNING");
  REQUIRE_FALSE(warnings.empty());
  CHECK_THAT(warnings[0], Catch::Contains("trial 0") && Catch::Contains("must be a number"));
}

TEST_CASE("a trial of the manager's own is not named by our number for it") {
  DaemonProcess daemon(with_assessor());
  daemon.send("IN", kSpace);
  daemon.send("ME", R"({"parameter_id":null,"trial_job_id":"A","type":"FINAL","value":"1"})");
  daemon.send("ME",
              R"({"parameter_id":null,"trial_job_id":"B","type":"PERIODICAL","value":"\"text\""})");
  daemon.sync();
  CHECK_THAT(daemon.log(), Catch::Contains("result of trial 1 of the manager's own ignored"));
  CHECK_THAT(daemon.log(), Catch::Contains("of trial 2 of the manager's own ignored"));
  CHECK_THAT(daemon.log(), !Catch::Contains("trial -"));
}

TEST_CASE("a stream that cannot be read any further ends the daemon with 3") {
  const auto row = GENERATE(values<Row>({
      {"GE000000000000x12", {"byte 56", "'000000000000x1' is not 14 digits", "GE"}},
      {"GE -0000000000001", {"byte 56", "is not 14 digits"}},
      {"GE99999999999999", {"byte 56", "99999999999999", "limit"}},
      {"{\"type\":\"GE\"}", {"byte 56", "{\"type\""}},
      {std::string("\0\0\0\0", 4), {"byte 56", "\\x00\\x00"}},
  }));
  CAPTURE(row.bytes);
  DaemonProcess daemon(with_assessor());
  daemon.send("IN", kSpace);
  daemon.write(row.bytes);
  CHECK(outlines(daemon.receive_all()) == "ID");
  CHECK(daemon.wait() == 3);
  const auto errors = lines(daemon.log(), "ERROR");
  REQUIRE(errors.size() == 1);
  for (const std::string& part : row.said) CHECK_THAT(errors[0], Catch::Contains(part));
  // Managers show what stands on stderr.
  CHECK_THAT(daemon.diagnostics(), Catch::Contains(row.said[0]));
}

TEST_CASE("a stream that ends inside a frame ends the daemon with 3, after what came before") {
  const auto rest = GENERATE("GE0000", "GE00000000000010[1,2");
  DaemonProcess daemon(with_assessor());
  daemon.send("IN", kSpace);
  daemon.send("GE", "1");
  daemon.write(rest);
  daemon.close_in();
  CHECK(outlines(daemon.receive_all()) == "ID, TR 0");
  CHECK(daemon.wait() == 3);
  const auto errors = lines(daemon.log(), "ERROR");
  REQUIRE(errors.size() == 1);
  CHECK_THAT(errors[0],
             Catch::Contains("ended inside a frame at byte 73") && Catch::Contains(rest));
}

TEST_CASE("experiment parameters that are no base64, no JSON or no object end it with 2") {
  struct Parameters {
    std::string text, said;
  };
  const auto row = GENERATE(values<Parameters>({
      {"not base64!", "base64"},
      {"e30", "multiple of 4"},
      {"bm90IGpzb24=", "JSON"},                       // not json
      {"WzFd", "an object expected"},                 // [1]
      {"eyJ0dW5lciI6e319", "tuner.name is missing"},  // {"tuner":{}}
      {"/////w==", "JSON"},
  }));
  CAPTURE(row.text);
  DaemonProcess daemon({"--exp_params", row.text});
  daemon.send("IN", kSpace);  // NNI's manager sees that this is not read
  CHECK(daemon.receive_all().empty());
  CHECK(daemon.wait() == 2);
  REQUIRE(lines(daemon.log(), "ERROR").size() == 1);
  CHECK_THAT(lines(daemon.log(), "ERROR")[0], Catch::Contains(row.said));
  CHECK_THAT(daemon.diagnostics(), Catch::Contains(row.said));
}

}  // namespace attune::bad_input_test

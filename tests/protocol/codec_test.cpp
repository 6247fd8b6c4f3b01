#include "protocol/codec.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace attune::codec_test {

template <class T>
T decoded(const std::string& code, const std::string& payload) {
  auto command = decode({code, payload});
  INFO((command ? "" : command.error().message));
  REQUIRE(command);
  REQUIRE(std::holds_alternative<T>(*command));
  return std::get<T>(*std::move(command));
}

std::string error_of(const std::string& code, const std::string& payload) {
  auto command = decode({code, payload});
  return command ? "" : command.error().message;
}

TEST_CASE("what is encoded decodes to the same bytes again") {
  struct Row {
    std::string code, payload;
  };
  // Every command in both directions, as we write it.
  const auto row = GENERATE(values<Row>({
      {"IN", R"({"x":{"_type":"uniform","_value":[0,1.0]}})"},
      {"IN", R"({"search_space":{"x":{}},"earlier":[{"name":"a","trials":[]}]})"},
      {"GE", "2"},
      {"GE", "-1"},
      {"ME",
       R"({"parameter_id":3,"trial_job_id":"aB","type":"PERIODICAL","sequence":4,"value":"0.93"})"},
      {"ME",
       R"({"parameter_id":"0-2_1_5","trial_job_id":"aB","type":"FINAL","sequence":0,"value":"{\"default\":0.95,\"loss\":1}"})"},
      {"ME",
       R"({"parameter_id":null,"trial_job_id":"aB","type":"FINAL","sequence":0,"value":"NaN"})"},
      {"ME",
       R"({"parameter_id":null,"trial_job_id":"aB","type":"REQUEST_PARAMETER","sequence":0,"parameter_index":1})"},
      {"SS", "{}"},
      {"FD",
       R"([{"parameter":{"x":0.5},"value":"0.25","trialJobId":"zz"},{"parameter":{"x":1},"value":"{\"default\":2}"}])"},
      {"AD",
       R"({"parameter_id":null,"parameter_source":"customized","parameters":{"x":0.25},"parameter_index":0})"},
      {"AD",
       R"([{"parameter_id":5,"parameter_source":"resumed","parameters":{"x":0.25},"parameter_index":0}])"},
      {"AD",
       R"([{"parameter_id":3,"parameter_source":"resumed","parameters":{"x":1},"parameter_index":0,"trial_job_id":"t3","paused":true,"checkpoint":"c1"}])"},
      {"AD", "[]"},
      {"EN",
       R"({"trial_job_id":"aB","event":"EARLY_STOPPED","hyper_params":"{\"parameter_id\":0,\"parameters\":{\"x\":1}}"})"},
      {"EN",
       R"({"trial_job_id":"aB","event":"PAUSED","hyper_params":"{\"parameter_id\":0,\"parameters\":null}","checkpoint":"c7"})"},
      {"TE", ""},
      {"PI", ""},
      {"PI", "token 1"},
      {"CK", R"({"trial_job_id":"aB","checkpoint":"c7"})"},
      {"RC", "41"},
      {"ID", ""},
      {"ID", R"({"through":12})"},
      {"TR",
       R"({"parameter_id":0,"parameter_source":"algorithm","parameters":{"x":16.0},"parameter_index":0})"},
      {"TR",
       R"({"parameter_id":1,"parameter_source":"algorithm","parameters":{},"parameter_index":0,"resume_trial_job_id":"aB","checkpoint_from":"c1","reason":"the best of 3"})"},
      {"SP",
       R"({"parameter_id":7,"parameter_source":"algorithm","parameters":null,"trial_job_id":"aB","parameter_index":1})"},
      {"NO",
       R"({"parameter_id":6,"parameter_source":"algorithm","parameters":"","parameter_index":0})"},
      {"NO",
       R"({"parameter_id":6,"parameter_source":"algorithm","parameters":"","parameter_index":0,"reason":"exhausted"})"},
      {"KI", R"("aB")"},
      {"KI", R"({"trial_job_id":"aB","reason":"below the median"})"},
      {"KI", R"({"trial_job_id":"aB","reason":"27 of 27 epochs","complete":true})"},
      {"KI", R"({"trial_job_id":"aB","reason":"","complete":true})"},
      {"ER", "what went wrong"},
      {"PO", "token 1"},
      {"PA", R"({"trial_job_id":"aB","reason":"rung"})"},
      {"CP", R"({"trial_job_id":"aB"})"},
      {"CD", R"({"checkpoint":"c7"})"},
  }));
  CAPTURE(row.code, row.payload);
  const auto command = decode({row.code, row.payload});
  REQUIRE(command);
  CHECK(code_of(*command) == row.code);
  CHECK(encode(*command) == Frame{row.code, row.payload});
}

TEST_CASE("metrics are decoded twice") {
  const std::string head =
      R"({"parameter_id":0,"trial_job_id":"T","type":"FINAL","sequence":0,"value":)";
  CHECK(decoded<ReportMetricData>("ME", head + "\"0.5\"}\n").value == 0.5);
  CHECK(decoded<ReportMetricData>("ME", head + "0.5}").value == 0.5);
  CHECK(decoded<ReportMetricData>("ME", head + R"("{\"default\": 1}"})").value["default"] == 1);
  CHECK(std::isnan(decoded<ReportMetricData>("ME", head + "\"NaN\"}").value.get<double>()));
  CHECK(decoded<ReportMetricData>("ME", head + R"("\"text\""})").value == "text");
  CHECK(decoded<ReportMetricData>("ME", head + R"("{nope"})").value == "{nope");
}

TEST_CASE("a kill says whether the trial is complete, and in doubt that it is not") {
  const auto complete = [](const std::string& payload) {
    return decoded<KillTrialJob>("KI", payload).complete;
  };
  CHECK(complete(R"({"trial_job_id":"A","reason":"r","complete":true})"));
  CHECK_FALSE(complete(R"({"trial_job_id":"A","reason":"r","complete":false})"));
  CHECK_FALSE(complete(R"({"trial_job_id":"A","reason":"r","complete":"yes"})"));
  CHECK_FALSE(complete(R"({"trial_job_id":"A","reason":"r"})"));
  CHECK_FALSE(complete(R"("A")"));
}

TEST_CASE("what managers leave out has a meaning") {
  const auto metric = decoded<ReportMetricData>("ME", R"({"type":"PERIODICAL","value":"1"})");
  CHECK(metric.trial_job_id.empty());
  CHECK(metric.sequence == 0);
  CHECK(metric.parameter_id == ParameterId());
  const auto end = decoded<TrialEnd>("EN", R"({"trial_job_id":"A","event":"WHATEVER"})");
  CHECK(end.event == TrialEnd::Event::unknown);
  CHECK(end.parameter_id == ParameterId());
  const auto spoilt =
      decoded<TrialEnd>("EN", R"({"trial_job_id":"A","event":"FAILED","hyper_params":"{"})");
  CHECK(spoilt.event == TrialEnd::Event::failed);
  CHECK(decoded<RequestTrialJobs>("GE", "1 # a comment").count == 1);
}

TEST_CASE("one unusable import record does not take the others with it") {
  const auto data =
      decoded<ImportData>("FD", R"([5, {"parameter":{"x":1}}, {"parameter":{"x":2},"value":"3"}])");
  REQUIRE(data.records.size() == 3);
  CHECK(data.records[0].parameter.is_null());
  CHECK(data.records[1].value.is_null());
  CHECK(data.records[2].value == 3);
}

TEST_CASE("errors name the command, the mistake and the payload") {
  CHECK(error_of("ZZ", "1") == "ZZ: unknown command; payload of 1 bytes: '1'");
  CHECK(error_of("GE", "\"2\"") ==
        "GE (RequestTrialJobs): an integer expected, not a string (\"2\"); payload of 3 bytes: "
        "'\"2\"'");
  CHECK(error_of("GE", "").find("GE (RequestTrialJobs): invalid JSON") == 0);
  CHECK(error_of("GE", "{nope").find("near '{nope'") != std::string::npos);
  CHECK(error_of("GE", "1.5").find("an integer expected, not a number") != std::string::npos);
  CHECK(error_of("GE", "18446744073709551615").find("an integer expected") != std::string::npos);
  CHECK(error_of("IN", R"({"search_space":3,"earlier":[]})")
            .find("\"search_space\": a search space object expected, not an integer") !=
        std::string::npos);
  // Two parameters of these names are a search space.
  CHECK(std::get<Initialize>(decode({"IN", R"({"search_space":{},"earlier":{}})"}).value())
            .earlier.is_null());
  CHECK(error_of("IN", "[]").find("a search space object expected, not an array") !=
        std::string::npos);
  CHECK(error_of("ME", "[]").find("an object expected") != std::string::npos);
  CHECK(error_of("ME", R"({"value":"1"})").find("\"type\" is missing") != std::string::npos);
  CHECK(error_of("ME", R"({"type":"OTHER","value":"1"})").find("not \"OTHER\"") !=
        std::string::npos);
  CHECK(error_of("ME", R"({"type":"FINAL"})").find("\"value\" is missing") != std::string::npos);
  CHECK(error_of("ME", R"({"type":"FINAL","value":"1","sequence":-1})").find("negative") !=
        std::string::npos);
  CHECK(error_of("ME", R"({"type":"FINAL","value":"1","parameter_id":1.5})").find("parameter_id") !=
        std::string::npos);
  CHECK(error_of("ME", R"({"type":"REQUEST_PARAMETER"})").find("trial_job_id") !=
        std::string::npos);
  CHECK(error_of("EN", R"({"event":"FAILED"})").find("\"trial_job_id\" is missing") !=
        std::string::npos);
  CHECK(error_of("FD", "{}").find("an array of records expected") != std::string::npos);
  CHECK(error_of("AD", "3").find("a trial object expected") != std::string::npos);
  CHECK(error_of("TR", "").find("invalid JSON") != std::string::npos);
  CHECK(error_of("ME", "\xff\xfe").find("'\\xff\\xfe'") != std::string::npos);
}

TEST_CASE("Python objects in JSON stay data") {
  const auto data = decoded<ImportData>(
      "FD", R"([{"parameter":{"x":{"__nni_type__":"path:os.system"}},"value":1}])");
  CHECK(data.records[0].parameter["x"]["__nni_type__"] == "path:os.system");
}

}  // namespace attune::codec_test

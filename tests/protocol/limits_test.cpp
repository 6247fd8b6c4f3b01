// What a command may say at most: at each limit, one above it, far above; and what limits are made
// of.
#include "protocol/limits.h"

#include <catch2/catch.hpp>
#include <set>

#include "protocol/codec.h"
#include "protocol/message.h"

namespace attune::limits_test {

std::string error_of(const Frame& frame, const Limits& limits) {
  const auto command = decode(frame, limits);
  return command ? "" : command.error().message;
}

TEST_CASE("every member of the limits has one entry, whose default is possible") {
  const Limits limits;
  std::set<std::string> names;
  for (const LimitEntry& entry : limit_entries()) {
    CAPTURE(entry.name);
    CHECK(names.insert(entry.name).second);
    CHECK(limits.*entry.value >= entry.least);
    CHECK(limits.*entry.value <= entry.most);
  }
  CHECK(limit_entries().size() * sizeof(std::size_t) == sizeof(Limits));
}

TEST_CASE("limits are written and read") {
  Limits limits;
  std::size_t next = 5000;
  for (const LimitEntry& entry : limit_entries()) {
    limits.*entry.value = std::min(entry.most, std::max(entry.least, next++));
  }
  const json written = to_json(limits);
  CHECK(limits_from_json(parse_json(dump_json(written)).value()).value() == limits);
  CHECK(limits_from_json(json::object()).value() == Limits{});
  CHECK(limits_from_json({{"max_jobs", 7}, {"max_of_a_later_version", 1}}).value().jobs == 7);
  for (const json& bad : {json(0), json(-1), json(1.5), json("7"), json(), json(1e300)}) {
    CAPTURE(dump_json(bad));
    const auto read = limits_from_json({{"max_jobs", bad}});
    REQUIRE_FALSE(read);
    CHECK(read.error().message.starts_with("max_jobs: a number from 1 to"));
  }
  CHECK_FALSE(limits_from_json(json::array()));
}

TEST_CASE("JSON of a command beyond a limit is an error that names it") {
  struct Row {
    Limits limits;
    std::string good, bad, said;
  };
  const auto row = GENERATE(values<Row>({
      {{.depth = 3}, R"({"a":[[1]]})", R"({"a":[[[1]]]})", "deeper than 3 levels"},
      {{.keys = 2}, R"({"a":1,"b":2})", R"({"a":1,"b":2,"c":3})", "more than 2 keys"},
      {{.string = 3}, R"({"abc":1})", R"({"abcd":1})", "string of more than 3 bytes"},
      {{.elements = 2}, R"({"a":[1,2]})", R"({"a":[1,2,3]})", "more than 2 elements"},
      {{.values = 4}, R"({"a":[1,2]})", R"({"a":[1,2],"b":1})", "more than 4 values"},
  }));
  CAPTURE(row.bad);
  for (const char* code : {"IN", "SS"}) {
    CHECK(error_of({code, row.good}, row.limits).empty());
    CHECK_THAT(error_of({code, row.bad}, row.limits), Catch::Contains(row.said));
  }
  // The default is no obstacle.
  CHECK(error_of({"IN", row.bad}, {}).empty());
}

TEST_CASE("every command that carries JSON keeps to the limits") {
  const std::string deep = "{\"a\":" + std::string(300, '[') + std::string(300, ']') + "}";
  for (const char* code : {"IN", "SS", "GE", "ME", "EN", "FD", "AD", "CK", "RC", "TR", "SP", "NO",
                           "KI", "PA", "CP", "CD", "ID"}) {
    CAPTURE(code);
    CHECK_THAT(error_of({code, deep}, {}), Catch::Contains("nested deeper than 256 levels"));
  }
}

TEST_CASE("the JSON text inside of a metric keeps to the limits too") {
  const Limits limits{.elements = 3};
  const auto value = [&](const std::string& text) {
    const json payload = {{"type", "FINAL"}, {"value", text}};
    return std::get<ReportMetricData>(decode({"ME", dump_json(payload)}, limits).value()).value;
  };
  CHECK(value("[1,2,3]") == json::array({1, 2, 3}));
  CHECK(value("[1,2,3,4]") == "[1,2,3,4]");  // which is no metric
}

TEST_CASE("an id beyond the limit is an error, in every command that has one") {
  const Limits limits{.id = 16};
  const std::string good(16, 'i'), bad(17, 'i'), huge(1 << 20, 'i');
  const auto said = [&](const char* code, const std::string& key, const std::string& id) {
    json payload = {{"type", "FINAL"}, {"value", "1"},        {"event", "FAILED"},
                    {"parameters", 1}, {"trial_job_id", "t"}, {"checkpoint", "c"}};
    payload[key] = id;
    return error_of({code, dump_json(payload)}, limits);
  };
  struct Row {
    const char *code, *key;
  };
  const auto row = GENERATE(values<Row>({{"ME", "trial_job_id"},
                                         {"ME", "parameter_id"},
                                         {"EN", "trial_job_id"},
                                         {"EN", "checkpoint"},
                                         {"AD", "parameter_id"},
                                         {"AD", "trial_job_id"},
                                         {"AD", "checkpoint"},
                                         {"CK", "trial_job_id"},
                                         {"CK", "checkpoint"},
                                         {"TR", "parameter_id"},
                                         {"TR", "resume_trial_job_id"},
                                         {"TR", "checkpoint_from"},
                                         {"SP", "trial_job_id"},
                                         {"KI", "trial_job_id"},
                                         {"PA", "trial_job_id"},
                                         {"CP", "trial_job_id"},
                                         {"CD", "checkpoint"}}));
  CAPTURE(row.code, row.key);
  CHECK(said(row.code, row.key, good).empty());
  for (const std::string& id : {bad, huge}) {
    const std::string message = said(row.code, row.key, id);
    CHECK_THAT(message, Catch::Contains("an id of " + std::to_string(id.size()) +
                                        " bytes, at most 16 are possible (--max-id)"));
    CHECK(message.size() < 500);
  }
}

TEST_CASE("a plain metric keeps to the limits like any other") {
  const auto said = [](const std::string& job, const std::string& sequence) {
    return error_of({"ME", R"({"parameter_id":0,"trial_job_id":")" + job +
                               R"(","type":"FINAL","sequence":)" + sequence + R"(,"value":"1"})"},
                    {.id = 4});
  };
  CHECK(said("four", "4503599627370496").empty());
  CHECK_THAT(said("fives", "0"), Catch::Contains("--max-id"));
  CHECK_THAT(said("four", "4503599627370497"), Catch::Contains("at most 4503599627370496"));
  CHECK_THAT(said("four", "9223372036854775808"), Catch::Contains("an integer expected"));
  CHECK_THAT(said("four", "1e400"), Catch::Contains("an integer expected"));
  CHECK(said("four", "-0").empty());
}

TEST_CASE("a ping keeps to the limit of ids") {
  CHECK(error_of({"PI", std::string(1024, 'x')}, {}).empty());
  CHECK_THAT(error_of({"PI", std::string(1025, 'x')}, {}), Catch::Contains("\"token\""));
  CHECK(error_of({"PI", "\xf0\x9f\x90\x99"}, {}).empty());
  CHECK_THAT(error_of({"PI", "\xf0\x9f"}, {}), Catch::Contains("the token is no UTF-8"));
}

TEST_CASE("an imported job with an id beyond the limit is a record without a job") {
  const json list = {{{"parameter", 1}, {"value", "1"}, {"trialJobId", std::string(17, 'i')}}};
  const auto command = decode({"FD", dump_json(list)}, {.id = 16}).value();
  REQUIRE(std::get<ImportData>(command).records.size() == 1);
  CHECK(std::get<ImportData>(command).records[0].trial_job_id.empty());
}

TEST_CASE("what Python would make objects of stays data") {
  const char* text =
      GENERATE(R"({"__nni_type__":"bytes:gASVJAAAAAAAAACMBXBvc2l4lIwGc3lzdGVtlJOU"})",
               R"({"__class__":"os.system","__args__":["id"]})",
               R"({"py/object":"os.system","py/reduce":[{"py/type":"os"}]})",
               R"({"__proto__":{"a":1},"constructor":{"b":2}})");
  const auto command = decode({"IN", text}).value();
  CHECK(dump_json(std::get<Initialize>(command).search_space) == text);
}

TEST_CASE("of two equal keys the last one counts, in every way to read a metric") {
  const char* text = GENERATE(
      R"({"parameter_id":0,"parameter_id":7,"trial_job_id":"a","trial_job_id":"b","type":"FINAL",
          "sequence":0,"value":"1","value":"2"})",
      R"({"parameter_id":7,"trial_job_id":"b","type":"PERIODICAL","type":"FINAL","sequence":0,
          "value":"2"})");
  const auto metric = std::get<ReportMetricData>(decode({"ME", text}).value());
  CHECK(metric.trial_job_id == "b");
  CHECK(to_text(metric.parameter_id) == "7");
  CHECK(metric.type == ReportMetricData::Type::final);
  CHECK(metric.value == 2);
}

TEST_CASE("texts that are no text are errors") {
  for (const char* job : {"\"\xff\"", "\"\xed\xa0\x80\"", R"("\ud800")", R"("\udc00\ud800")",
                          "\"a\nb\"", "\"a\x01\"", "[1]", "{}", "1", "true"}) {
    CAPTURE(job);
    CHECK_FALSE(
        decode({"ME", R"({"type":"FINAL","value":"1","trial_job_id":)" + std::string(job) + "}"}));
  }
  // NUL is a character like any other.
  const auto metric = decode({"ME", R"({"type":"FINAL","value":"1","trial_job_id":"a\u0000b"})"});
  REQUIRE(metric);
  CHECK(std::get<ReportMetricData>(*metric).trial_job_id == std::string("a\0b", 3));
}

TEST_CASE("a message of NNI 3 is two texts, and nothing that fills memory") {
  const auto message = [](const std::string& rest) {
    return decode_message(Dialect::v3, R"({"type":"GE","content":"1")" + rest + "}");
  };
  CHECK(message(""));
  CHECK(decode_message(Dialect::v3,
                       R"({"type":"ME","content":")" + std::string(20 << 20, 'x') + "\"}"));
  std::string list = ",\"more\":[";
  for (int i = 0; i < 999; ++i) list += "[],";
  CHECK_FALSE(message(list + "[]]"));
  CHECK_FALSE(message(",\"deep\":" + std::string(8, '[') + std::string(8, ']')));
}

TEST_CASE("a daemon that counts wrongly is not believed") {
  CHECK_FALSE(decode({"ID", R"({"through":-1})"}));
  CHECK_FALSE(decode({"RC", "-1"}));
}

}  // namespace attune::limits_test

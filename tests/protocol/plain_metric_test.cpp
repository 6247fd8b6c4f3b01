// The short way gives what the general way gives, or nothing.
#include "protocol/plain_metric.h"

#include <catch2/catch.hpp>

#include "base/rng.h"
#include "protocol/codec.h"

namespace attune::plain_metric_test {

// What decode() makes of the payload when it must take the general way: a sixth member is unusual.
std::optional<ReportMetricData> general(const std::string& payload) {
  std::string longer = payload;
  const auto end = longer.rfind('}');
  if (end == longer.npos) return std::nullopt;
  longer.insert(end, R"(, "tag": [])");
  REQUIRE_FALSE(read_plain_metric(longer));
  const auto command = decode({"ME", longer});
  if (!command) return std::nullopt;
  return std::get<ReportMetricData>(*command);
}

bool same(const ReportMetricData& a, const ReportMetricData& b) {
  return a.type == b.type && a.parameter_id == b.parameter_id && a.trial_job_id == b.trial_job_id &&
         a.sequence == b.sequence && a.value.type() == b.value.type() &&
         dump_json(a.value) == dump_json(b.value);
}

std::string metric(const std::string& value) {
  return R"({"parameter_id": 3, "trial_job_id": "aB", "type": "FINAL", "sequence": 4, "value": ")" +
         value + "\"}";
}

TEST_CASE("plain metrics are read the short way") {
  const std::string payload = GENERATE(
      metric("0"), metric("1"), metric("-1"), metric("0.93"), metric("-0.0"), metric("1e-3"),
      metric("1E+5"), metric("123456789012345678"), metric("2.5e300"),
      R"({"parameter_id":0,"trial_job_id":"","type":"PERIODICAL","sequence":0,"value":"7"})",
      " {\n\t\"value\" : \"7\" , \"type\":\"FINAL\",\"sequence\":12, \"trial_job_id\": \"x y\" ,"
      "\"parameter_id\":9 }\r\n");
  CAPTURE(payload);
  const auto plain = read_plain_metric(payload);
  REQUIRE(plain);
  const auto expected = general(payload);
  REQUIRE(expected);
  CHECK(same(*plain, *expected));
}

TEST_CASE("what is unusual or wrong is left to the general way") {
  const std::string payload = GENERATE(
      as<std::string>{}, "", "{", "{}", "[]", "null", metric(""), metric("NaN"), metric("-0"),
      metric("01"), metric("1."), metric(".5"), metric("+1"), metric("1e"), metric("1e999"),
      metric("1e-999"), metric(" 1"), metric("1 "), metric("0x10"), metric("1234567890123456789"),
      metric("true"), metric("{}"), metric("\\u0031"), metric("\xc3\xa9"), metric("1") + "x",
      metric("1") + "{", metric(std::string(1, '\0')), "," + metric("1"),
      R"({"parameter_id":null,"trial_job_id":"a","type":"FINAL","sequence":0,"value":"1"})",
      R"({"parameter_id":"1","trial_job_id":"a","type":"FINAL","sequence":0,"value":"1"})",
      R"({"parameter_id":-1,"trial_job_id":"a","type":"FINAL","sequence":0,"value":"1"})",
      R"({"parameter_id":1.0,"trial_job_id":"a","type":"FINAL","sequence":0,"value":"1"})",
      R"({"parameter_id":1,"trial_job_id":null,"type":"FINAL","sequence":0,"value":"1"})",
      R"({"parameter_id":1,"trial_job_id":"a","type":"OTHER","sequence":0,"value":"1"})",
      R"({"parameter_id":1,"trial_job_id":"a","type":"FINAL","sequence":-1,"value":"1"})",
      R"({"parameter_id":1,"trial_job_id":"a","type":"FINAL","sequence":00,"value":"1"})",
      R"({"parameter_id":1,"trial_job_id":"a","type":"FINAL","sequence":0,"value":1})",
      R"({"parameter_id":1,"trial_job_id":"a","type":"FINAL","sequence":0})",
      R"({"parameter_id":1,"trial_job_id":"a","type":"FINAL","sequence":0,"value":"1",})",
      R"({"sequence":1,"parameter_id":1,"trial_job_id":"a","type":"FINAL","sequence":0,"value":"1"})");
  CAPTURE(payload);
  CHECK_FALSE(read_plain_metric(payload));
}

TEST_CASE("a plain metric with any byte changed: the short way gives nothing, or the same") {
  Rng rng(1);
  std::size_t read = 0;
  const std::string plain = metric("-12.75e2");
  for (int i = 0; i < 20'000; ++i) {
    std::string payload = plain;
    payload[rng.index(payload.size())] =
        rng.index(2) == 0 ? static_cast<char>(rng.index(256)) : plain[rng.index(plain.size())];
    const auto short_way = read_plain_metric(payload);
    if (!short_way) continue;
    ++read;
    const auto expected = general(payload);
    CAPTURE(payload);
    REQUIRE(expected);
    REQUIRE(same(*short_way, *expected));
  }
  CHECK(read > 1000);
}

}  // namespace attune::plain_metric_test

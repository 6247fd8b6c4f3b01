#include "backends/report/metric_file.h"

#include <fmt/format.h>

#include <catch2/catch.hpp>

#include "base/rng.h"

namespace attune::metric_file_test {

std::string body(int sequence) {
  return fmt::format(R"({{"parameter_id": 7, "trial_job_id": "t0007", "type": "PERIODICAL", )"
                     R"("sequence": {}, "value": "{}.5"}})",
                     sequence, sequence);
}

std::string record(const std::string& text, bool line_end = true) {
  const std::string bytes = text + (line_end ? "\n" : "");
  return fmt::format("ME{:06}{}", bytes.size(), bytes);
}

struct Read {
  std::vector<MetricRecord> records;
  std::vector<std::string> errors;
};

void drain(MetricParser& parser, Read& read) {
  while (true) {
    auto next = parser.next();
    if (!next) {
      read.errors.push_back(next.error().message);
    } else if (auto* found = std::get_if<MetricRecord>(&*next)) {
      read.records.push_back(std::move(*found));
    } else {
      return;
    }
  }
}

Read read_all(const std::string& bytes, bool finish = true) {
  MetricParser parser;
  Read read;
  parser.feed(bytes);
  drain(parser, read);
  if (finish) {
    parser.finish();
    drain(parser, read);
  }
  return read;
}

TEST_CASE("metric file: records come out verbatim and decoded, however the bytes are split") {
  std::string bytes;
  for (int i = 0; i < 40; ++i) bytes += record(body(i), i % 3 != 0);
  Rng rng(1);
  for (int round = 0; round < 50; ++round) {
    MetricParser parser;
    Read read;
    for (std::size_t at = 0; at < bytes.size();) {
      const std::size_t size = round == 0 ? 1 : 1 + rng.index(300);
      parser.feed(std::string_view(bytes).substr(at, size));
      drain(parser, read);
      at += size;
    }
    REQUIRE(read.errors.empty());
    REQUIRE(read.records.size() == 40);
    for (int i = 0; i < 40; ++i) {
      REQUIRE(read.records[i].text == body(i));
      REQUIRE(read.records[i].metric.sequence == i);
      REQUIRE(read.records[i].metric.value == i + 0.5);
    }
  }
}

TEST_CASE("metric file: garbage costs one error with its place, not the records around it") {
  const std::string good = record(body(1));
  struct Row {
    std::string garbage, message;
  };
  const Row row = GENERATE_REF(values<Row>({
      {"epoch 1 done\n", "expected \"ME\", six digits"},
      {"MEMORY 12 GB\n", "expected \"ME\", six digits"},
      {"ME12345x{}\n", "expected \"ME\", six digits"},
      {std::string("\0\xff\x01", 3), "expected \"ME\", six digits"},
      {"ME000005hello", "not a JSON object"},
      {"ME000000", "not a JSON object"},
      {"ME000008{\"a\":1}\n", "\"type\" is missing"},
      {"ME000007{\"a\": }", ""},
      {"ME000030{\"type\": \"SOMETIMES\"}", ""},
  }));
  CAPTURE(row.garbage);
  const Read read = read_all(good + row.garbage + good + good);
  CHECK(read.records.size() == 3);
  REQUIRE(read.errors.size() == 1);
  CHECK(read.errors[0].find(fmt::format("byte {}:", good.size())) != std::string::npos);
  CHECK(read.errors[0].find(row.message) != std::string::npos);
}

TEST_CASE("metric file: a length that is too large hides nothing once the trial has ended") {
  const std::string bytes = "ME900000" + body(1) + "\n" + record(body(2));
  const Read waiting = read_all(bytes, false);
  CHECK(waiting.records.empty());
  CHECK(waiting.errors.empty());
  const Read ended = read_all(bytes);
  REQUIRE(ended.records.size() == 1);
  CHECK(ended.records[0].text == body(2));
  CHECK(ended.errors.size() == 1);
}

TEST_CASE("metric file: a record that was cut off is an error only at the end") {
  const std::string whole = record(body(1));
  for (std::size_t cut = 1; cut < whole.size() - 1; ++cut) {
    CAPTURE(cut);
    const Read waiting = read_all(whole.substr(0, cut), false);
    CHECK(waiting.errors.empty());
    const Read ended = read_all(whole.substr(0, cut));
    CHECK(ended.records.empty());
    CHECK(ended.errors.size() == 1);
  }
}

TEST_CASE("metric file: what is skipped does not depend on how much there is so far") {
  const std::string outer = "{" + record(body(1)) + "}";
  const std::string bytes = fmt::format("ME{:06}{}", outer.size(), outer) + "ME0001at\n";
  Read read;
  MetricParser parser;
  for (const char byte : bytes) {
    parser.feed(std::string_view(&byte, 1));
    drain(parser, read);
  }
  parser.finish();
  drain(parser, read);
  REQUIRE(read.records.size() == 1);
  CHECK(read.records[0].text == body(1));
  CHECK(read_all(bytes).records.size() == 1);
}

TEST_CASE("metric file: errors are bounded") {
  std::string bytes;
  for (int i = 0; i < 500; ++i) bytes += "x" + record(body(i));
  const Read read = read_all(bytes);
  CHECK(read.errors.size() == MetricParser::kMaxErrors + 1);
  CHECK(read.errors.back().find("too many errors") != std::string::npos);
}

TEST_CASE("metric file: of bad records in a row each is named") {
  const std::string bad = record("{'value': 1}"), foreign = record(R"({"type": "SOMETIMES"})");
  const Read read = read_all("hello\n" + bad + bad + foreign + record(body(1)) + bad + "hello");
  CHECK(read.records.size() == 1);
  REQUIRE(read.errors.size() == 6);
  CHECK(read.errors[0].find("byte 0:") != std::string::npos);
  CHECK(read.errors[1].find("byte 6:") != std::string::npos);
  CHECK(read.errors[2].find(fmt::format("byte {}:", 6 + bad.size())) != std::string::npos);
  CHECK(read.errors[3].find("SOMETIMES") != std::string::npos);
}

TEST_CASE("metric file: a megabyte of garbage is enough") {
  // 'M' is where reading could go on.
  const std::string piece = GENERATE("x", "M", "ME", "ME000009{", "x\n");
  std::string bytes = record(body(1));
  while (bytes.size() < 3 * MetricParser::kMaxGarbage) bytes += piece;
  MetricParser parser;
  Read read;
  for (std::size_t at = 0; at < bytes.size(); at += 65536) {
    parser.feed(std::string_view(bytes).substr(at, 65536));
    drain(parser, read);
  }
  parser.feed(record(body(2)));
  drain(parser, read);
  CHECK(read.records.size() == 1);
  REQUIRE(read.errors.size() == 2);
  CHECK(read.errors[1].find("too much is no metric") != std::string::npos);
}

TEST_CASE("metric file: what stands in a whole record is not looked at") {
  const Read read = read_all(record("{" + record(body(1)) + "}") + record(body(2)));
  CHECK(read.errors.size() == 1);
  REQUIRE(read.records.size() == 1);
  CHECK(read.records[0].text == body(2));
}

// Each of the headers makes a record of nearly all that follows.
TEST_CASE("metric file: headers in headers are read in vain only so often") {
  std::string bytes;
  for (int i = 0; i < 20'000; ++i) bytes += "ME900000{";
  bytes += std::string(1 << 20, '}');
  const Read read = read_all(bytes);
  REQUIRE(read.errors.size() == 2);
  CHECK(read.errors[1].find(".nni/metrics, byte 162:") == 0);
  CHECK(read.errors[1].find("too much is no metric, the rest of the file is ignored") !=
        std::string::npos);
  CHECK(read_all(bytes + record(body(1))).records.empty());
}

TEST_CASE("metric file: any bytes are survived") {
  Rng rng(2);
  const std::string alphabet = "ME0123456789{}\"\n xyz";
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::size_t i = rng.index(200); i > 0; --i) bytes += alphabet[rng.index(alphabet.size())];
    const Read read = read_all(bytes);
    CHECK(read.errors.size() <= MetricParser::kMaxErrors + 1);
  }
}

}  // namespace attune::metric_file_test

// What other programs write can be read.
#include <catch2/catch.hpp>
#include <cmath>
#include <fstream>
#include <limits>

#include "manager/interchange/csv.h"
#include "manager/interchange/import_file.h"
#include "tests/support/temporary_folder.h"

namespace attune::import_file_test {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

std::vector<ImportData::Record> read_as(const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / name) << text;
  const auto records = read_import_file(folder.path / name);
  INFO((records ? "" : records.error().message));
  REQUIRE(records.has_value());
  return *records;
}

std::string error_of(const std::string& name, const std::string& text) {
  const TemporaryFolder folder;
  std::ofstream(folder.path / name) << text;
  const auto records = read_import_file(folder.path / name);
  return records ? "accepted" : records.error().message;
}

TEST_CASE("import: what others write") {
  const auto nni =
      read_as("nni.json", R"([{"parameter": {"lr": 0.1}, "value": "0.5", "trialJobId": "F6MYZ"},
                      {"parameter": {"lr": 0.2}, "value": "{\"default\": 0.75}"}])");
  REQUIRE(nni.size() == 2);
  CHECK(nni[0].value == 0.5);
  CHECK(nni[0].trial_job_id == "F6MYZ");
  CHECK(nni[1].value == json{{"default", 0.75}});

  const auto plain = read_as("plain.csv", "lr,seconds,value\r\n0.1,3,0.5\r\n\r\n0.2,4,nan\r\n");
  REQUIRE(plain.size() == 2);
  CHECK(plain[0].parameter == json{{"lr", 0.1}, {"seconds", 3}});
  CHECK(std::isnan(plain[1].value.get<double>()));
}

TEST_CASE("import: Syne Tune's results, a row for each report") {
  const auto records = read_as("results.csv",
                               "epoch,error,st_decision,st_status,trial_id,config_lr,config_act,"
                               "config_depth,st_tuner_time\n"
                               "1,0.5,CONTINUE,InProgress,0,0.1,relu,,1.5\n"
                               "1,0.6,CONTINUE,InProgress,1,0.2,tanh,3,2.5\n"
                               "2,0.25,CONTINUE,InProgress,0,0.1,relu,,3.5\n"
                               "2,0.55,STOP,Stopped,1,0.2,tanh,3,4.5\n"
                               "1,0.7,CONTINUE,Failed,2,0.3,relu,,5\n");
  REQUIRE(records.size() == 1);
  CHECK(records[0].trial_job_id == "syne-tune-0");
  CHECK(records[0].parameter == json{{"lr", 0.1}, {"act", "relu"}});
  CHECK(records[0].value == json{{"epoch", 2}, {"error", 0.25}});
  CHECK(error_of("results.csv.zip", "PK\3\4...").find("unpack it: unzip results.csv.zip") !=
        std::string::npos);
}

TEST_CASE("import: what is wrong, and where") {
  const auto ends = [](const std::string& text, const std::string& end) {
    INFO(text);
    return text.ends_with(end);
  };
  CHECK(ends(error_of("a.csv", "lr,value\n0.1\n"),
             "a.csv: row 1: has 1 cells, the head of the table has 2"));
  CHECK(ends(error_of("a.csv", "lr,value\n0.1,\"x\n"), "a.csv: line 2: the quotes do not end"));
  CHECK(ends(error_of("a.csv", "value\n1\n"), "columns parameters.NAME"));
  CHECK(error_of("a.jsonl", "{\"value\": 1, \"parameters\": {\"x\": 1}}\n{oops\n")
            .find("a.jsonl: line 2: ") != std::string::npos);
  CHECK(ends(error_of("a.json", "[3]"), "a.json: record 0: must be an object, not an integer"));
  CHECK_FALSE(read_import_file("/nowhere/x.csv").has_value());
}

TEST_CASE("csv: every value comes back") {
  for (const json& value :
       {json(0.1), json(-3), json(true), json(false), json(kInfinity), json(-kInfinity),
        json("text"), json("a,b"), json("a\"b"), json("two\nlines\r\n"), json(" blank "),
        json("\u00e9"), json({1, 2}), json{{"a", {1, "x"}}}}) {
    INFO(value);
    const auto rows = parse_csv("first," + csv_cell(value) + ",last\n");
    REQUIRE(rows.has_value());
    REQUIRE(rows->size() == 1);
    REQUIRE(rows->front().size() == 3);
    CHECK(csv_value(rows->front()[1]) == value);
  }
  CHECK(csv_value("").is_null());
  CHECK(std::isnan(csv_value(csv_cell(std::nan(""))).get<double>()));
  CHECK(parse_csv("a,,\"\"\nb").value() ==
        std::vector<std::vector<std::string>>{{"a", "", ""}, {"b"}});
}

}  // namespace attune::import_file_test

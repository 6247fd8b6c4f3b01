// The page of an experiment as one file.
#include "manager/dashboard/report.h"

#include <catch2/catch.hpp>

#include "base/base64.h"
#include "manager/dashboard/stored_view.h"
#include "tests/manager/dashboard/column_reader.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::report_test {

// The data that the document holds, as a browser finds them.
json data_of(const std::string& document) {
  const std::string begin = "<script type=\"application/json\" id=\"attune-report\">";
  const std::size_t at = document.find(begin) + begin.size();
  return parse_json(document.substr(at, document.find("</script>", at) - at)).value()["paths"];
}

struct World {
  explicit World(const std::string& name) {
    json file = {{"trialCommand", "true"}};
    file["searchSpace"][name] = {{"_type", "uniform"}, {"_value", {0, 1}}};
    Store store = begin_experiment(folder.path, "abcd2345", name, file);
    for (int i = 0; i < 30; ++i) {
      TrialRecord trial = pending_trial(i);
      trial.proposed.parameters = {{name, 0.03 * i}};
      store.add_trial(trial, 1001).value();
      trial.status = TrialStatus::succeeded;
      trial.final_metric = 0.1 * i;
      store.change_trial(trial).value();
    }
    store.commit().value();
  }
  Result<std::string> report(const std::string& id = "abcd2345") {
    StoredSource source(io, clock, {.roots = {folder.path}, .program = "", .environment = {}});
    return report_document(*source.view(), id);
  }

  TemporaryFolder folder;
  boost::asio::io_context io;
  ManualClock clock{2000};
};

TEST_CASE("report: it holds the page and what the page asks for") {
  World world("x");
  const std::string document = world.report().value();
  CHECK(document.starts_with("<!doctype html>"));
  CHECK(document.find("src=") ==
        document.find("src=", document.find("<body>")));  // none in the head
  CHECK(document.find("href=\"page.css\"") == std::string::npos);
  CHECK(document.find("default-src 'none'") < document.find("<script"));
  const json paths = data_of(document);
  const std::string base = "/experiments/abcd2345";
  CHECK(paths[base]["best"]["trial_job_id"] == "t0029");
  const auto columns = test::read_columns(
      base64_decode(paths[base + "/columns"]["base64"].get<std::string>()).value());
  CHECK(columns.header["rows"] == 30);
  CHECK(columns.header["more"] == false);
  CHECK(paths[base + "/importance"]["parameters"][0]["parameter"] == "x");
  CHECK(paths[base + "/posterior?x=x"]["trials"] == 30);
  CHECK(paths[base + "/trials/29"]["sequence"] == 29);
  CHECK(paths.contains(base + "/curves"));
  CHECK_FALSE(paths.contains(base + "/trials/0"));
}

TEST_CASE("report: no name can end the data or begin a script") {
  const std::string hostile = "</script><script>alert(1)</script><!-- &x=1 ü";
  World world(hostile);
  const std::string document = world.report().value();
  CHECK(document.find("alert(1)</script>") == std::string::npos);
  const json paths = data_of(document);
  CHECK(paths["/experiments/abcd2345"]["name"] == hostile);
  CHECK(
      paths.contains("/experiments/abcd2345/posterior?x=%3C%2Fscript%3E%3Cscript%3Ealert%281%29"
                     "%3C%2Fscript%3E%3C%21--+%26x%3D1+%C3%BC"));
}

TEST_CASE("report: an experiment that is not there") {
  World world("x");
  CHECK(world.report("efgh2345").error().message.find("efgh2345") != std::string::npos);
}

}  // namespace attune::report_test

#include "manager/interchange/mlflow_export.h"

#include <catch2/catch.hpp>

#include "os/atomic_file.h"
#include "tests/manager/interchange/exported_world.h"

namespace attune::mlflow_export_test {

namespace fs = std::filesystem;

TEST_CASE("mlflow export: a name from outside is never a path") {
  ExportedWorld world(json{{"trialCommand", "true"}});
  world.add({{"../../up", 1}, {"a/b", "x"}, {"..", 2}, {"", 3}}, TrialStatus::succeeded,
            {{"../acc", 0.5}});
  const ExportedExperiment experiment = world.experiment();
  StoreReader reader = world.reader();
  const fs::path folder = world.folder.path / "mlruns" / "abcd2345";
  const auto exporter = mlflow_exporter(experiment, folder, folder).value();
  REQUIRE(export_trials(reader, experiment, *exporter).has_value());
  const fs::path params = folder / "abcd2345-t0000" / "params";
  CHECK(read_file((params / ".._.._up").string()).value() == "1");
  CHECK(read_file((params / "a_b").string()).value() == "x");
  CHECK(read_file((params / ".._").string()).value() == "2");
  CHECK(read_file((params / "_").string()).value() == "3");
  CHECK(fs::exists(folder / "abcd2345-t0000" / "metrics" / "final" / ".._acc"));
  CHECK(exporter->losses().all().size() == 5);
}

}  // namespace attune::mlflow_export_test

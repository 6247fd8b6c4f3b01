// What a trial gets: templates, variables, its folder.
#include "tests/backends/local/local_fixture.h"

namespace attune::local_inputs_test {

using namespace test;

TEST_CASE("trial inputs: templates, variables and the folder") {
  LocalFixture local("", [](LocalBackendOptions& options) {
    options.parameter_names = ParameterNames({"lr", "name"});
    options.command = "pwd; cat sub/case.toml; printf '<%s>' \"$NAME\" {name} \"$LIMIT\"";
    options.variables = {{"NAME", "x {name}"}, {"LIMIT", "3"}};
    options.templates = {
        {"case.in", "sub/case.toml", TemplateFormat::as_toml, "lr = {lr}\n", false}};
    options.run_in_trial_folder = true;
  });
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(local.finished[0].how == Ending::succeeded);
  CHECK(read_text(local.trial() / "stdout") ==
        local.trial().string() + "\nlr = 0.5\n<x a b><a b><3>");
}

TEST_CASE("trial inputs: one template does not overwrite another, and a script can be run") {
  LocalFixture local("", [](LocalBackendOptions& options) {
    options.parameter_names = ParameterNames({"lr"});
    options.command = "./run.sh; cat b.tmp";
    options.templates = {
        {"b.in", "b.tmp", TemplateFormat::as_text, "first {lr}", false},
        {"run.in", "run.sh", TemplateFormat::as_text, "#!/bin/sh\necho {lr}", true},
        {"b.in", "b", TemplateFormat::as_text, "second", false}};
    options.run_in_trial_folder = true;
  });
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(read_text(local.trial() / "stdout") == "0.5\nfirst 0.5");
}

TEST_CASE("trial inputs: variables of another manager are not inherited, the user's are set") {
  LocalFixture local("", [](LocalBackendOptions& options) {
    options.command = "echo $REUSE_MODE.$MULTI_PHASE.$SDK_PROCESS.$KEPT";
    options.environment.insert(options.environment.end(),
                               {"REUSE_MODE=true", "MULTI_PHASE=true", "SDK_PROCESS=dispatcher"});
    options.variables = {{"MULTI_PHASE", "mine"}, {"KEPT", "changed"}};
  });
  local.start();
  REQUIRE(local.run_to_end());
  CHECK(read_text(local.trial() / "stdout") == ".mine..changed\n");
}

TEST_CASE("trial inputs: a template that cannot be rendered starts nothing") {
  LocalFixture local("", [](LocalBackendOptions& options) {
    options.parameter_names = ParameterNames({"lr", "missing"});
    options.command = "true";
    options.templates = {
        {"case.in", "case.toml", TemplateFormat::as_toml, "m = {missing}\n", false}};
  });
  const auto started = local.try_start(trial_start(0));
  REQUIRE_FALSE(started.has_value());
  CHECK(started.error().message.starts_with("case.in, line 1: {missing}"));
}

}  // namespace attune::local_inputs_test

// The key `slurm` of an experiment file.
#include "manager/experiment/slurm_section.h"

#include <catch2/catch.hpp>

#include "manager/experiment/yaml.h"

namespace attune::slurm_section_test {

using Catch::Matchers::Contains;

Result<SlurmSection> read(const std::string& text) {
  const YamlDocument document = parse_yaml(text, "e.yaml").value();
  Findings findings;
  SlurmSection section = read_slurm_section(Section(document, "e.yaml", findings).section("slurm"));
  TRY(findings.result());
  return section;
}

TEST_CASE("slurm section: defaults") {
  const auto slurm = read("backend: slurm\n");
  REQUIRE(slurm);
  CHECK(slurm->settings.mode == SlurmSettings::Mode::jobs);
  CHECK(slurm->listen == "127.0.0.1:0");
  CHECK(slurm->advertise.empty());
}

TEST_CASE("slurm section: everything goes to the coordinator and back") {
  const auto slurm = read(
      "slurm: {mode: pilots, partition: p, account: a, qos: q, timeLimit: 2h, gres: 'gpu:1',\n"
      "  arguments: [--exclusive], signalBefore: 5m, startWithin: 10m, poll: 2s, maxJobs: 7,\n"
      "  pilot: {cpu: 4, gpu: 1, memory: 1GB, idle: 30s}, listen: '0.0.0.0:7000',\n"
      "  advertise: 'head:7000'}\n");
  REQUIRE(slurm);
  CHECK(slurm->listen == "0.0.0.0:7000");
  CHECK(slurm->advertise == "head:7000");
  SlurmSettings settings = slurm->settings;
  settings.prefix = "e-";
  const auto again = parse_slurm_settings(to_json(settings));
  REQUIRE(again);
  CHECK(to_json(*again) == to_json(settings));
  CHECK(again->mode == SlurmSettings::Mode::pilots);
  CHECK(again->time_limit == 7200);
  CHECK(again->signal_before == 300);
  CHECK(again->start_within == 600);
  CHECK(again->most_jobs == 7);
  CHECK(again->pilot.capacity.memory == 1e9);
  CHECK(again->pilot.idle == 30);
  CHECK(again->arguments == std::vector<std::string>{"--exclusive"});
}

TEST_CASE("slurm section: errors point to the key and say the cure") {
  const auto [text, words] = GENERATE(table<std::string, std::string>(
      {{"slurm: {mode: job}", "slurm.mode: \"job\" is none of"},
       {"slurm: {partion: x}", "did you mean \"partition\""},
       {"slurm: {listen: '0.0.0.0:7000'}", "slurm.listen: 0.0.0.0 is no address"},
       {"slurm: {listen: nonsense}", "slurm.listen"},
       {"slurm: {advertise: 'head:7000'}", "slurm.advertise"},
       {"slurm: {listen: '0.0.0.0:7000', advertise: 'head:0'}", "slurm.advertise"},
       {"slurm: {pilot: {cpu: 2}}", "slurm.pilot: it is for mode: pilots"},
       {"slurm: {timeLimit: 60s, signalBefore: 60s}", "slurm.signalBefore"},
       {"slurm: {startWithin: 0s}", "slurm.startWithin"},
       {"slurm: {maxJobs: 0}", "slurm.maxJobs"}}));
  const auto slurm = read(text);
  REQUIRE_FALSE(slurm);
  CHECK_THAT(slurm.error().message, Contains(words) && Contains("e.yaml:1:"));
}

TEST_CASE("slurm settings: hostile ones are refused") {
  SlurmSettings settings;
  settings.prefix = "e-";
  const json good = to_json(settings);
  REQUIRE(parse_slurm_settings(good));
  for (const auto& [key, value] : good.items()) {
    json bad = good;
    bad[key] = json::array({nullptr});
    CHECK_FALSE(parse_slurm_settings(bad));
    bad.erase(key);
    CHECK_FALSE(parse_slurm_settings(bad));
  }
  json none = good;
  none["prefix"] = "";  // all jobs of the user would be ours
  CHECK_FALSE(parse_slurm_settings(none));
}

Resources cpus(double count) {
  Resources needs;
  needs.cpu = count;
  return needs;
}

TEST_CASE("slurm section: jobs that Slurm could never have are an error before any trial") {
  const auto [text, needs, message] = GENERATE(table<std::string, Resources, std::string>({
      {"slurm: {arguments: ['--wrap=x']}", Resources{},
       ":1:9: slurm.arguments: \"--wrap=x\" cannot be given"},
      {"slurm: {arguments: [x]}", Resources{}, ":1:9: slurm.arguments: \"x\" is no option"},
      {"slurm: {timeLimit: 1e300}", Resources{},
       ":1:9: slurm.timeLimit: a time above 0, and of at most"},
      {"resources: {cpu: 1e300}", cpus(1e300), ":1:13: resources.cpu: not so many"},
      {"slurm: {mode: pilots, pilot: {cpu: 1}}", cpus(2), ":1:23: slurm.pilot: no trial fits"},
  }));
  const auto document = parse_yaml(text, "e.yaml").value();
  Findings findings;
  const Section top(document, "e.yaml", findings);
  const SlurmSection slurm = read_slurm_section(top.section("slurm"));
  check_slurm_jobs(top, SlurmSettings{}, cpus(2));
  REQUIRE(findings.empty());
  check_slurm_jobs(top, slurm.settings, needs);
  REQUIRE_FALSE(findings.empty());
  CHECK_THAT(findings.result().error().message, Catch::Contains("e.yaml" + message));
}

}  // namespace attune::slurm_section_test

// Mistakes on the command line: what is printed names the place and the cure, the exit code is that
// of docs/commands.md, and nothing is left behind.
#include <catch2/catch.hpp>
#include <filesystem>
#include <set>

#include "tests/manager/app/program_folder.h"

namespace attune::mistakes_test {

struct Mistake {
  std::vector<std::string> words;
  int code;
  std::string place, cure;
};

// All that is there, but for what the programs printed, and SQLite's own files beside a store.
std::set<std::string> files_of(const std::filesystem::path& folder) {
  std::set<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().lexically_relative(folder).string();
    if (name != "out" && name != "err" && !name.ends_with("-wal") && !name.ends_with("-shm"))
      files.insert(name);
  }
  return files;
}

TEST_CASE("attune: mistakes on the command line") {
  const ProgramFolder folder;
  folder.write("report FINAL 1", "maxTrialNumber: 1\n");
  REQUIRE(folder.run_experiment().code == 0);
  const std::vector<Mistake> mistakes = {
      {{"run", "e.yaml", "--max-trials"}, 2, "attune run: --max-trials: ", "attune run --help"},
      {{"run", "e.yaml", "--seed", "seven"}, 2, "--seed: ", "seven not in range 0 to"},
      {{"run", "e.yaml", "--seed", "1", "--seed", "2"}, 2, "--seed: ", "At Most 1"},
      {{"run", "e.yaml", "f.yaml"}, 2, "attune run: ", "not expected: f.yaml"},
      {{"run", "nowhere.yaml", "--dir", "new"}, 2, "nowhere.yaml", "No such file"},
      {{"run", "e.yaml", "--dir", "e.yaml"}, 2, "e.yaml", "there is a file of that name"},
      {{"run", "e.yaml", "--dir", "new", "--daemon", "nowhere"}, 2, "--daemon nowhere", "program"},
      {{"simulate", "e.yaml", "--dir", "new", "--curves", "x.json"}, 2, "x.json", "cannot read"},
      {{"best", "--dir", "exp", "--format", "env", "--json"}, 2, "--format", "excludes"},
      {{"coordinator", "--dir", "new", "--slurm", "s", "--scale-command", "x"},
       2,
       "--scale-command",
       "excludes --slurm"},
      {{"resume", "--dir", "exp", "--duration", "1x"}, 2, "--duration: x", "{d,h,m,s}"},
      {{"rename", "a", "--dir", "exp"}, 2, "attune rename: name", "required"},
      {{"pool", "drain"}, 2, "attune pool drain: workers", "required"},
      {{"status", "nobody", "--dir", "exp"}, 1, "no experiment 'nobody'", "there are: "},
      {{"show", "t0099", "--dir", "exp"}, 1, "no trial 't0099'", "attune trials lists them"},
      {{"kill", "t0099", "--dir", "exp"}, 1, "no trial 't0099'", "attune trials lists them"},
      {{"list", "--dir", "new"}, 1, "no experiments in new", "--dir names another"},
      {{"import", "nowhere.csv", "--dir", "exp"}, 1, "nowhere.csv", "No such file"},
      {{"export", "--dir", "exp", "-o", "exp"}, 1, "exp is a directory", "name a file in it"},
      {{"delete", "nobody", "--dir", "exp", "--yes"}, 1, "no experiment 'nobody'", "there are: "},
  };
  const std::set<std::string> before = files_of(folder.path);
  for (const Mistake& mistake : mistakes) {
    const Run run = folder.run(mistake.words);
    INFO(mistake.words[0] << " " << mistake.words.back() << ": " << run.err);
    CHECK(run.code == mistake.code);
    CHECK(run.out.empty());
    CHECK(run.err.find(mistake.place) != std::string::npos);
    CHECK(run.err.find(mistake.cure) != std::string::npos);
    CHECK(files_of(folder.path) == before);
  }
}

}  // namespace attune::mistakes_test

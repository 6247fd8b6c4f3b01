// Commands that can be pasted.
#include "manager/cli/commands/shell_words.h"

#include <catch2/catch.hpp>

namespace attune::shell_words_test {

namespace fs = std::filesystem;

TEST_CASE("shell words: what a shell would change is quoted") {
  CHECK(shell_word("a/b-c_d.yaml") == "a/b-c_d.yaml");
  CHECK(shell_word("") == "''");
  CHECK(shell_word("two words") == "'two words'");
  CHECK(shell_word("it's $(rm)") == R"('it'\''s $(rm)')");
}

TEST_CASE("shell words: an experiment is named by its id where that is enough") {
  const fs::path usual = fs::current_path() / "attune-experiments";
  CHECK(experiment_words(usual / "abcd2345", "abcd2345", true) == "abcd2345");
  CHECK(experiment_words(usual / "abcd2345", "abcd2345", false) == "-e abcd2345");
  // Elsewhere, or called otherwise.
  CHECK(experiment_words("/srv/my runs/abcd2345", "abcd2345", true) ==
        "--dir '/srv/my runs/abcd2345'");
  CHECK(experiment_words("/srv/first", "abcd2345", false) == "--dir /srv/first");
  CHECK(experiment_words(usual / "first", "abcd2345", false) ==
        "--dir " + shell_word((usual / "first").string()));
}

}  // namespace attune::shell_words_test

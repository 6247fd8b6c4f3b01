// Classes of the user in the experiment parameters.
#include "daemon/user_class.h"

#include <catch2/catch.hpp>

namespace attune::user_class_test {

std::string error_of(const json& value) {
  const auto read = read_user_class(value, "tuner");
  return read ? "" : read.error().message;
}

TEST_CASE("user classes: both of NNI's schemas") {
  const auto v2 =
      read_user_class({{"className", "my.Tuner"}, {"codeDirectory", "/tmp"}}, "advisor");
  REQUIRE(v2);
  CHECK(v2->key == "advisor");
  CHECK(v2->name == "my.Tuner");
  CHECK(v2->directory == "/tmp");
  const auto v1 = read_user_class(
      {{"className", "Tuner"}, {"classFileName", "sub/my.py"}, {"codeDir", "/tmp"}}, "tuner");
  REQUIRE(v1);
  CHECK(v1->name == "sub.my.Tuner");
  CHECK(v1->directory == "/tmp");
}

TEST_CASE("user classes: without a folder it is the present one") {
  const auto read = read_user_class({{"className", "my.Tuner"}}, "tuner");
  REQUIRE(read);
  CHECK(read->directory.front() == '/');
}

TEST_CASE("user classes: mistakes name the key") {
  CHECK(error_of({{"className", 5}}) == "tuner.className: a string expected");
  CHECK(error_of({{"className", "Tuner"}}) ==
        "tuner.className: \"module.Class\" expected, not \"Tuner\"");
  CHECK(error_of({{"className", "T"}, {"classFileName", "my"}}).starts_with("tuner.classFileName"));
  CHECK(error_of({{"className", "a.B"}, {"codeDirectory", "/none"}}) ==
        "tuner.codeDirectory: there is no folder /none");
  CHECK(error_of({{"className", "a.B"}, {"codeDir", "/none"}}) ==
        "tuner.codeDir: there is no folder /none");
  for (const json& seconds : {json(0), json(-1), json("soon"), json(1e9)}) {
    CHECK(error_of({{"className", "a.B"}, {"timeout", seconds}}).starts_with("tuner.timeout"));
  }
}

TEST_CASE("user classes: the command and its environment") {
  auto read = read_user_class({{"className", "a.B"}, {"codeDirectory", "/tmp"}, {"timeout", 5}},
                              "assessor");
  REQUIRE(read);
  const json spec = host_of(*read);
  CHECK(spec["command"] == json{"python3", "-m", "attune.nni_host", "--kind", "assessor", "--class",
                                "a.B", "--directory", "/tmp"});
  CHECK(spec["timeout"] == 5);
  const auto path = spec["environment"]["PYTHONPATH"].get<std::string>();
  CHECK(path.ends_with("/python"));  // of the source tree
}

}  // namespace attune::user_class_test

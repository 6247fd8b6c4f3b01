#include "trial/trial_c.h"

#include <cstring>

#include "tests/trial/trial_folder.h"

namespace attune::trial_c_test {

using Catch::Contains;

struct Free {
  void operator()(attune_trial* trial) const { attune_trial_free(trial); }
};
using Handle = std::unique_ptr<attune_trial, Free>;

Handle open_trial(int expected = ATTUNE_TRIAL_OK) {
  attune_trial* trial = nullptr;
  CHECK(attune_trial_open(nullptr, nullptr, &trial) == expected);
  REQUIRE(trial != nullptr);
  return Handle(trial);
}

TEST_CASE("C: parameters by path and type") {
  const ManagedFolder folder(R"({"lr": 0.5, "steps": 16.0, "n": 3, "huge": 18446744073709551615,
      "flag": true, "a.b": 7, "optimizer": {"_name": "adam", "lr": {"rate": 0.25}}})");
  const Handle trial = open_trial();
  double number = -1;
  const char* json_text = nullptr;
  CHECK(attune_trial_get_double(trial.get(), "lr", &number) == ATTUNE_TRIAL_FAILED);
  CHECK_THAT(attune_trial_error(trial.get()), Contains("before attune_trial_next_parameters()"));
  CHECK(attune_trial_get_json(trial.get(), "", &json_text) == ATTUNE_TRIAL_FAILED);
  CHECK(number == -1);
  REQUIRE(attune_trial_next_parameters(trial.get()) == ATTUNE_TRIAL_OK);
  CHECK(attune_trial_get_double(trial.get(), "lr", &number) == ATTUNE_TRIAL_OK);
  CHECK(number == 0.5);
  CHECK(attune_trial_get_double(trial.get(), "n", &number) == ATTUNE_TRIAL_OK);
  CHECK(number == 3);
  CHECK(attune_trial_get_double(trial.get(), "optimizer.lr.rate", &number) == ATTUNE_TRIAL_OK);
  CHECK(number == 0.25);
  CHECK(attune_trial_get_double(trial.get(), "a.b", &number) == ATTUNE_TRIAL_OK);
  CHECK(number == 7);

  std::int64_t integer = -1;
  CHECK(attune_trial_get_int64(trial.get(), "steps", &integer) == ATTUNE_TRIAL_OK);
  CHECK(integer == 16);
  for (const char* name : {"lr", "huge", "flag", "optimizer"}) {
    INFO(name);
    CHECK(attune_trial_get_int64(trial.get(), name, &integer) == ATTUNE_TRIAL_TYPE);
  }
  CHECK(integer == 16);
  CHECK_THAT(attune_trial_error(trial.get()),
             Contains("parameter optimizer is an object, not an integer"));

  int flag = -1;
  CHECK(attune_trial_get_bool(trial.get(), "flag", &flag) == ATTUNE_TRIAL_OK);
  CHECK(flag == 1);
  CHECK(attune_trial_get_bool(trial.get(), "n", &flag) == ATTUNE_TRIAL_TYPE);
  const char* text = nullptr;
  CHECK(attune_trial_get_string(trial.get(), "optimizer._name", &text) == ATTUNE_TRIAL_OK);
  CHECK(std::string(text) == "adam");
  CHECK(attune_trial_get_string(trial.get(), "lr", &text) == ATTUNE_TRIAL_TYPE);
  CHECK(attune_trial_get_json(trial.get(), "optimizer", &text) == ATTUNE_TRIAL_OK);
  CHECK(std::string(text) == R"({"_name":"adam","lr":{"rate":0.25}})");
  CHECK(attune_trial_get_json(trial.get(), "", &text) == ATTUNE_TRIAL_OK);
  CHECK(std::string(text).starts_with(R"({"lr":0.5)"));
  for (const char* name : {"missing", "lr.x", "optimizer.", ".lr", "optimizer.momentum"}) {
    INFO(name);
    CHECK(attune_trial_get_double(trial.get(), name, &number) == ATTUNE_TRIAL_NONE);
  }
  CHECK(number == 7);
  CHECK(attune_trial_next_parameters(trial.get()) == ATTUNE_TRIAL_NONE);
  CHECK(attune_trial_get_double(trial.get(), "lr", &number) == ATTUNE_TRIAL_OK);
}

TEST_CASE("C: reports, and what is refused") {
  const ManagedFolder folder;
  const Handle trial = open_trial();
  CHECK(std::string(attune_trial_id(trial.get())) == "t0003");
  CHECK(attune_trial_sequence(trial.get()) == 3);
  CHECK(attune_trial_attempt(trial.get()) == 1);
  CHECK(attune_trial_stand_alone(trial.get()) == 0);
  CHECK(attune_trial_output_directory(trial.get()) == folder.path);
  CHECK(attune_trial_report(trial.get(), 1) == ATTUNE_TRIAL_FAILED);
  CHECK_THAT(attune_trial_error(trial.get()), Contains("before next_parameters()"));
  REQUIRE(attune_trial_next_parameters(trial.get()) == ATTUNE_TRIAL_OK);
  const char* const names[] = {"default", "size"};
  const double values[] = {0.5, 2};
  CHECK(attune_trial_report(trial.get(), 1) == ATTUNE_TRIAL_OK);
  CHECK(attune_trial_report_json(trial.get(), R"({"default": NaN})") == ATTUNE_TRIAL_OK);
  CHECK(attune_trial_report_json(trial.get(), "{") == ATTUNE_TRIAL_FAILED);
  CHECK(attune_trial_report_values(trial.get(), names, values, 2) == ATTUNE_TRIAL_OK);
  CHECK(attune_trial_final_json(trial.get(), "[]") == ATTUNE_TRIAL_FAILED);
  CHECK(attune_trial_final_values(trial.get(), names, values, 1) == ATTUNE_TRIAL_OK);
  CHECK(attune_trial_final(trial.get(), 1) == ATTUNE_TRIAL_FAILED);
  CHECK(folder.values("PERIODICAL") ==
        std::vector<std::string>{"1.0", R"({"default":NaN})", R"({"default":0.5,"size":2.0})"});
  CHECK(folder.values("FINAL") == std::vector<std::string>{R"({"default":0.5})"});
}

TEST_CASE("C: save and restore") {
  const ManagedFolder folder;
  const Handle trial = open_trial();
  CHECK(attune_trial_checkpoint_dir(trial.get()) == folder.path / "checkpoint");
  const void* bytes = nullptr;
  std::size_t size = 99;
  CHECK(attune_trial_restore(trial.get(), "state", &bytes, &size) == ATTUNE_TRIAL_NONE);
  CHECK(size == 99);
  CHECK(attune_trial_save(trial.get(), "state", "a\0b", 3) == ATTUNE_TRIAL_OK);
  CHECK(attune_trial_restore(trial.get(), "state", &bytes, &size) == ATTUNE_TRIAL_OK);
  CHECK(size == 3);
  CHECK(std::memcmp(bytes, "a\0b", 4) == 0);
  CHECK(attune_trial_save(trial.get(), "a/b", "", 0) == ATTUNE_TRIAL_FAILED);
}

TEST_CASE("C: a handle that could not be opened says why, and refuses everything") {
  ManagedFolder folder;
  folder.environment.set("NNI_SYS_DIR", "");
  const Handle trial = open_trial(ATTUNE_TRIAL_FAILED);
  CHECK(attune_trial_next_parameters(trial.get()) == ATTUNE_TRIAL_FAILED);
  CHECK(attune_trial_report(trial.get(), 1) == ATTUNE_TRIAL_FAILED);
  CHECK_THAT(attune_trial_error(trial.get()), Contains("NNI_SYS_DIR"));
  CHECK(std::string(attune_trial_id(trial.get())).empty());
  CHECK(attune_trial_checkpoint_dir(trial.get()) == nullptr);
  CHECK(attune_trial_report(nullptr, 1) == ATTUNE_TRIAL_FAILED);
  CHECK_FALSE(std::string(attune_trial_error(nullptr)).empty());
  attune_trial_free(nullptr);

  folder.environment.set("NNI_PLATFORM", "");
  attune_trial* bad = nullptr;
  CHECK(attune_trial_open("{", nullptr, &bad) == ATTUNE_TRIAL_FAILED);
  CHECK_THAT(attune_trial_error(bad), Contains("the defaults"));
  attune_trial_free(bad);
}

}  // namespace attune::trial_c_test

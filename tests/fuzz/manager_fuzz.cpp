// A manager that says anything in any order, to every tuner and every assessor. The first bytes
// choose them; then each command is three bytes (what, about which trial, with which value), so
// that nearly every input is a conversation. All of it goes to two daemons alike, which must say
// the same, and sometimes both are replaced by new ones that go on from a saved state.
#include "space/parse.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/manager_rules.h"
#include "tests/support/halving_tuner.h"
#include "tests/support/stepped.h"

using namespace attune;

namespace {

constexpr std::array<const char*, 10> kSpaces = {
    R"({"x":{"_type":"uniform","_value":[0,1]}})",
    R"({"x":{"_type":"uniform","_value":[0,2]},"k":{"_type":"choice","_value":[1,"two",null]}})",
    R"({"n":{"_type":"randint","_value":[0,3]},"q":{"_type":"quniform","_value":[2,10,5]}})",
    R"({"l":{"_type":"loguniform","_value":[1e-5,1]},"g":{"_type":"qlognormal","_value":[0,1,1]}})",
    R"({"o":{"_type":"choice","_value":[{"_name":"a","p":{"_type":"normal","_value":[0,1]}},{"_name":"b"}]}})",
    R"({"x":{"_type":"choice","_value":["only"]}})",
    R"({"combine_params":{"_type":"choice","_value":[{"lr":0.1},{"lr":0.2},{"lr":0.3}]}})",
    "{}",
    R"({"x":{"_type":"uniform","_value":[1,0]}})",  // unusable
    "[1]",
};
constexpr std::array<const char*, 16> kValues = {
    "0",         "0.25",      "0.5",   "1",    "-3",  "1e308",    "-1e308",
    "NaN",       "-Infinity", "1e400", "null", "[1]", "\"text\"", "{\"default\":0.125,\"t\":3}",
    "{\"t\":1}", "{"};
constexpr std::array<const char*, 10> kEvents = {"SUCCEEDED",    "FAILED",        "USER_CANCELED",
                                                 "SYS_CANCELED", "EARLY_STOPPED", "PAUSED",
                                                 "PAUSE_FAILED", "UNKNOWN",       "",
                                                 "succeeded"};
// Commands that are none, or odd ones.
constexpr std::array<std::pair<const char*, const char*>, 20> kOdd = {{
    {"GE", "-1"},
    {"GE", "1e400"},
    {"GE", "9223372036854775808"},
    {"GE", "-0"},
    {"GE", "{}"},
    {"ME", "{"},
    {"ME", "{\"type\":\"FINAL\"}"},
    {"ME",
     R"({"parameter_id":4503599627370496,"trial_job_id":"../../x","type":"FINAL","sequence":4503599627370496,"value":"1"})"},
    {"ME",
     R"({"parameter_id":"0","trial_job_id":"\u0000","type":"PERIODICAL","sequence":0,"value":"1"})"},
    {"ME",
     R"({"parameter_id":null,"trial_job_id":"","type":"PERIODICAL","sequence":0,"value":"1"})"},
    {"EN", R"({"trial_job_id":"","event":"SUCCEEDED"})"},
    {"EN", "\xff"},
    {"FD", "[{},null,1,{\"parameter\":{\"x\":0.5},\"value\":1e400}]"},
    {"FD", "{\"__nni_type__\":\"bytes\"}"},
    {"AD", "[null]"},
    {"AD", "[{\"parameter_id\":-1,\"parameters\":{\"py/object\":\"os.system\"}}]"},
    {"SS", "{\"x\":{\"_type\":\"uniform\",\"_value\":[0,1e999]}}"},
    {"CK", "{\"trial_job_id\":\"J0\",\"checkpoint\":\"../..\"}"},
    {"KI", "\"J0\""},
    {"ZZ", ""},
}};

class Conversation {
 public:
  explicit Conversation(std::string_view input) : input_(input) {
    const auto tuners = builtin_tuners();
    const auto assessors = builtin_assessors();
    const std::size_t search = byte() % (tuners.entries().size() + 1);
    if (search > 0) tuner_ = tuners.entries()[search - 1].name;
    if (search == 0) rules_.pauses();
    const std::size_t judge = byte() % (assessors.entries().size() + 1);
    if (judge > 0) assessor_ = assessors.entries()[judge - 1].name;
    const unsigned flags = byte();
    options_.capabilities.sync = true;
    options_.capabilities.pause = (flags & 1) != 0;
    options_.capabilities.checkpoint = (flags & 2) != 0;
    options_.capabilities.reason = (flags & 4) != 0;
    options_.include_intermediate = (flags & 8) != 0;
    options_.limits.request = 8;
    options_.limits.outstanding = 20;
    options_.limits.history = 12;
    if ((flags & 16) != 0) {
      options_.limits.jobs = 6;
      rules_.few_jobs();
    }
    options_.limits.imports = 30;
    begin();
    const std::string space = kSpaces[byte() % kSpaces.size()];
    rules_.space(space);
    say("IN", space);
  }

  void run() {
    for (int said = 0; said < 120 && !input_.empty() && !over(); ++said) one();
    for (const auto& daemon : daemons_) daemon->settle();
    listen();
  }

 private:
  unsigned byte() {
    if (input_.empty()) return 0;
    const auto value = static_cast<unsigned char>(input_.front());
    input_.remove_prefix(1);
    return value;
  }

  bool over() const { return daemons_[0]->exit_code != kExitOk || daemons_[0]->terminated; }

  std::unique_ptr<Stepped> fresh() const {
    if (!tuner_.empty()) {
      return Stepped::make(tuner_, json::object(), assessor_, json::object(), options_);
    }
    // No registered tuner pauses and copies.
    DispatcherOptions options = options_;
    options.wants_reports = true;
    return std::make_unique<Stepped>(std::make_unique<HalvingTuner>(4), false, nullptr, options);
  }
  void begin() {
    for (auto& daemon : daemons_) daemon = fresh();
  }

  // To both; what they do of it at once is up to the input.
  void say(const std::string& code, const std::string& payload) {
    rules_.command({code, payload});
    const unsigned how = code == "IN" ? 0 : byte();
    for (const auto& daemon : daemons_) {
      daemon->accept(code, payload);
      if (how % 4 != 3) {
        daemon->settle();
      } else if (how / 4 % 2 == 0) {
        daemon->step_tune();
      } else {
        daemon->step_assess();
      }
    }
    listen();
  }

  void listen() {
    const auto answers = daemons_[0]->take();
    ATTUNE_CHECK(answers == daemons_[1]->take());
    for (const Frame& answer : answers) rules_.answer(answer);
  }

  // Both go on from what one of them saved.
  void go_on() {
    for (const auto& daemon : daemons_) daemon->settle();
    listen();
    const json state = daemons_[0]->save();
    ATTUNE_CHECK(dump_json(state) == dump_json(daemons_[1]->save()));
    listen();
    if (state.is_null()) return;
    begin();
    for (const auto& daemon : daemons_) {
      ATTUNE_CHECK(daemon->load(parse_json(dump_json(state)).value()));
    }
    listen();
  }

  void metric(const ManagerRules::Trial& trial, const std::string& type, std::int64_t step,
              unsigned value) {
    say("ME", dump_json({{"parameter_id", trial.id},
                         {"trial_job_id", trial.job},
                         {"type", type},
                         {"sequence", step},
                         {"parameter_index", 1},
                         {"value", kValues[value % kValues.size()]}}));
  }

  void one() {
    const unsigned what = byte() % 20, which = byte(), value = byte();
    ManagerRules::Trial& trial = rules_.trial(which);
    switch (what) {
      case 0:
      case 1:
        return say("GE", std::to_string(value % 10));
      case 2:
      case 3:
      case 4:
        return metric(trial, "PERIODICAL", trial.step++, value);
      case 5:
        return metric(trial, "PERIODICAL", which % 16, value);
      case 6:
      case 7:
        return metric(trial, "FINAL", 0, value);
      case 8:
      case 9:
        return say("EN", dump_json({{"trial_job_id", trial.job},
                                    {"event", kEvents[value % kEvents.size()]},
                                    {"checkpoint", value % 3 == 0 ? "c" : ""},
                                    {"hyper_params", trial.text}}));
      case 10: {  // NNI 3.0 can name another trial's parameters
        const std::string text = rules_.trial(value).text;
        return say("EN", dump_json({{"trial_job_id", trial.job},
                                    {"event", "SUCCEEDED"},
                                    {"hyper_params", text}}));
      }
      case 11:
        rules_.space(kSpaces[value % kSpaces.size()]);
        return say("SS", kSpaces[value % kSpaces.size()]);
      case 12: {
        json record = {{"parameter", trial.parameters}, {"value", kValues[value % kValues.size()]}};
        if (which % 2 == 0) record["trialJobId"] = trial.job;
        return say("FD", dump_json(json::array({record, record})));
      }
      case 13: {
        json one = {{"parameter_id", trial.id}, {"parameters", trial.parameters}};
        if (value % 2 == 0) one["trial_job_id"] = trial.job;
        if (value % 4 == 0) one["paused"] = true;
        return say("AD", dump_json(value % 8 == 7 ? one : json::array({one})));
      }
      case 14:
        return metric(trial, "REQUEST_PARAMETER", 0, value);
      case 15:
        return say("PI", "token-" + std::to_string(value));
      case 16:
        return say("CK", dump_json({{"trial_job_id", trial.job}, {"checkpoint", "c"}}));
      case 17: {  // a job of the manager's own
        ManagerRules::Trial own{.id = nullptr, .job = "own-" + std::to_string(which % 12)};
        return metric(own, value % 2 == 0 ? "PERIODICAL" : "FINAL", value / 16, value);
      }
      case 18:
        return say(kOdd[value % kOdd.size()].first, kOdd[value % kOdd.size()].second);
      default:
        return go_on();
    }
  }

  std::string_view input_;
  std::string tuner_, assessor_;
  DispatcherOptions options_;
  std::array<std::unique_ptr<Stepped>, 2> daemons_;
  ManagerRules rules_;
};

}  // namespace

FUZZ_TARGET(input) { Conversation(input).run(); }

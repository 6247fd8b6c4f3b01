#include "study/study_c.h"

#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/python_json.h"
#include "study/options_json.h"
#include "study/study.h"
#include "study/trial_json.h"

// The texts stay here, so that C can point at them.
struct attune_study {
  std::optional<attune::Study> study;  // nothing: it could not be made
  std::string error, text;
};

namespace {

using attune::json;
using attune::Result;
using attune::Study;

// `what`: the name of the argument, for the error.
Result<json> parse(const char* what, const char* text) {
  auto value = attune::parse_json(text);
  if (!value) return attune::fail_at(what, value.error().message);
  return value;
}

// Every entry goes through here: no exception may reach C. `body` returns a code or a Result.
template <class Body>
int guarded(attune_study* handle, Body&& body) noexcept {
  if (handle == nullptr) return ATTUNE_STUDY_FAILED;
  try {
    if (!handle->study) return ATTUNE_STUDY_FAILED;  // the error is that of making it
    const Result<int> code = body(*handle->study);
    if (code) return *code;
    handle->error = code.error().message;
  } catch (const std::exception& error) {
    handle->error = error.what();  // "std::bad_alloc" needs no memory
  }
  return ATTUNE_STUDY_FAILED;
}

template <class Make>
int make(attune_study** handle, Make&& make) noexcept {
  *handle = new (std::nothrow) attune_study;
  if (*handle == nullptr) return ATTUNE_STUDY_FAILED;
  try {
    Result<Study> study = make();
    if (study) {
      (*handle)->study.emplace(*std::move(study));
      return ATTUNE_STUDY_OK;
    }
    (*handle)->error = study.error().message;
  } catch (const std::exception& error) {
    (*handle)->error = error.what();
  }
  return ATTUNE_STUDY_FAILED;
}

int give(attune_study* handle, std::string value, const char** text) {
  handle->text = std::move(value);
  *text = handle->text.c_str();
  return ATTUNE_STUDY_OK;
}

int give(attune_study* handle, const json& value, const char** text) {
  return give(handle, attune::dump_python_json(value), text);
}

template <class Values>
int give_all(attune_study* handle, const Values& values, const char** text) {
  json array = json::array();
  for (const auto& value : values) array.push_back(to_json(value));
  return give(handle, array, text);
}

int give_trial(attune_study* handle, const std::optional<attune::StudyTrial>& trial,
               const char** text) {
  return trial ? give(handle, to_json(*trial), text) : int{ATTUNE_STUDY_NONE};
}

Result<int> report(attune_study* handle, Study& study, int64_t id, const json& value, int64_t step,
                   const char** stop) {
  const auto at = step == -1 ? std::nullopt : std::optional<std::int64_t>(step);
  attune::Verdict verdict = TRY(study.report(id, value, at));
  handle->text = std::move(verdict.reason);
  *stop = verdict.stop ? handle->text.c_str() : nullptr;
  return ATTUNE_STUDY_OK;
}

// [[id, value], ...]
Result<std::vector<std::pair<attune::TrialId, json>>> results_from(const json& array) {
  if (!array.is_array()) return attune::fail_at("results", "must be an array");
  std::vector<std::pair<attune::TrialId, json>> results;
  for (const json& one : array) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_number_integer()) {
      return attune::fail_at("results", "each one must be an array of an id and a value");
    }
    results.emplace_back(one[0].get<attune::TrialId>(), one[1]);
  }
  return results;
}

// [{"parameters": ..., "value": ...}, ...]
Result<std::vector<std::pair<json, json>>> imports_from(const json& array) {
  if (!array.is_array()) return attune::fail_at("results", "must be an array");
  std::vector<std::pair<json, json>> results;
  for (const json& one : array) {
    if (!one.is_object() || !one.contains("parameters") || !one.contains("value")) {
      return attune::fail_at("results", "each one must have \"parameters\" and a \"value\"");
    }
    results.emplace_back(one["parameters"], one["value"]);
  }
  return results;
}

Result<attune::TrialState> parse_state(std::string_view name) {
  using enum attune::TrialState;
  for (const auto state : {running, paused, completed, diverged, failed, stopped}) {
    if (name == attune::name_of(state)) return state;
  }
  return attune::fail_at("state",
                         "must be running, paused, completed, diverged, failed or stopped");
}

}  // namespace

extern "C" {

int32_t attune_study_abi(void) { return ATTUNE_STUDY_ABI; }
const char* attune_study_version(void) { return ATTUNE_VERSION; }

int attune_study_create(const char* space, const char* options, attune_study** study) {
  return make(study, [&]() -> Result<Study> {
    const json parsed = options == nullptr ? json::object() : TRY(parse("options", options));
    return Study::create(TRY(parse("space", space)), TRY(attune::options_from_json(parsed)));
  });
}

int attune_study_open(const char* file, const char* durability, attune_study** study) {
  return make(study, [&]() -> Result<Study> {
    if (durability == nullptr) return Study::open(file);
    return Study::open(file, TRY(attune::parse_durability(durability)));
  });
}

int attune_study_load(const char* file, attune_study** study) {
  return make(study, [&] { return Study::load(file); });
}

void attune_study_free(attune_study* study) { delete study; }

const char* attune_study_error(const attune_study* study) {
  return study == nullptr ? "there is no study" : study->error.c_str();
}

int attune_study_ask(attune_study* handle, int32_t count, const char** asked) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    return give(handle, attune::text_of(TRY(study.ask(count))), asked);
  });
}

int attune_study_tell(attune_study* handle, int64_t id, double value) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.tell(id, value));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_tell_json(attune_study* handle, int64_t id, const char* value) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.tell(id, TRY(parse("value", value))));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_tell_all(attune_study* handle, const char* results) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.tell(TRY(results_from(TRY(parse("results", results))))));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_report(attune_study* handle, int64_t id, double value, int64_t step,
                        const char** stop) {
  return guarded(handle,
                 [&](Study& study) { return report(handle, study, id, value, step, stop); });
}

int attune_study_report_json(attune_study* handle, int64_t id, const char* value, int64_t step,
                             const char** stop) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    return report(handle, study, id, TRY(parse("value", value)), step, stop);
  });
}

int attune_study_fail(attune_study* handle, int64_t id, const char* reason) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.fail(id, reason == nullptr ? "" : reason));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_stop(attune_study* handle, int64_t id) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.stop(id));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_enqueue(attune_study* handle, const char* parameters) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.enqueue(TRY(parse("parameters", parameters))));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_import(attune_study* handle, const char* results) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.import_results(TRY(imports_from(TRY(parse("results", results))))));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_suggest(attune_study* handle, int64_t id, const char* name, const char* declared,
                         const char** value) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    return give(handle, TRY(study.suggest(id, name, TRY(parse("declared", declared)))), value);
  });
}

int attune_study_give(attune_study* handle, int64_t id, const char* name, const char* declared,
                      const char* value) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.give(id, name, TRY(parse("declared", declared)), TRY(parse("value", value))));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_declare(attune_study* handle, const char* space) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.declare(TRY(parse("space", space))));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_best(attune_study* handle, const char** trial) {
  return guarded(
      handle, [&](Study& study) -> Result<int> { return give_trial(handle, study.best(), trial); });
}

int attune_study_keeps_limits(attune_study* handle) {
  const auto keeps = [](Study& study) -> Result<int> {
    return study.keeps_limits() ? int{ATTUNE_STUDY_OK} : int{ATTUNE_STUDY_NONE};
  };
  return guarded(handle, keeps) == ATTUNE_STUDY_OK ? 1 : 0;
}

int attune_study_trade_offs(attune_study* handle, const char** trials) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    return give_all(handle, study.trade_offs(), trials);
  });
}

int attune_study_trial(attune_study* handle, int64_t id, const char** trial) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    return give_trial(handle, study.trial(id), trial);
  });
}

int attune_study_trials(attune_study* handle, const char** trials) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    return give_all(handle, study.trials(), trials);
  });
}

int attune_study_running(attune_study* handle, const char** trials) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    return give_all(handle, study.running(), trials);
  });
}

int attune_study_importance(attune_study* handle, const char* metric, const char** importance) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    json shares = json::object();
    for (const auto& [name, share] : TRY(study.importance(metric == nullptr ? "" : metric))) {
      shares[name] = share;
    }
    return give(handle, shares, importance);
  });
}

int attune_study_count(attune_study* handle, const char* state, int64_t* count) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    *count = state == nullptr ? study.trial_count() : study.count(TRY(parse_state(state)));
    return ATTUNE_STUDY_OK;
  });
}

int attune_study_warnings(attune_study* handle, const char** warnings) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    return give(handle, json(study.warnings()), warnings);
  });
}

int attune_study_save(attune_study* handle, const char* path) {
  return guarded(handle, [&](Study& study) -> Result<int> {
    TRY(study.save(path));
    return ATTUNE_STUDY_OK;
  });
}

}  // extern "C"

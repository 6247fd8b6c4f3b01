#include "trial/trial_c.h"

#include <cmath>
#include <exception>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/python_json.h"
#include "trial/trial.h"

// The texts stay here, so that C can point at them.
struct attune_trial {
  std::optional<attune::Trial> trial;  // nothing: it could not be opened
  std::string error;
  std::optional<attune::json> parameters;  // nothing: not asked for yet
  std::string text, bytes, output_directory, checkpoint_dir;
};

namespace {

using attune::fail;
using attune::json;
using attune::Result;
using attune::Trial;

int failed(attune_trial* handle, std::string message, int code = ATTUNE_TRIAL_FAILED) {
  handle->error = std::move(message);
  return code;
}

// Every entry goes through here: no exception may reach C.
template <class Body>
int guarded(attune_trial* handle, Body&& body) noexcept {
  if (handle == nullptr) return ATTUNE_TRIAL_FAILED;
  try {
    if (!handle->trial) return ATTUNE_TRIAL_FAILED;  // the error is that of opening
    return body(*handle->trial);
  } catch (const std::exception& error) {
    handle->error = error.what();  // "std::bad_alloc" needs no memory
    return ATTUNE_TRIAL_FAILED;
  }
}

int answer(attune_trial* handle, const Result<void>& result) {
  return result ? ATTUNE_TRIAL_OK : failed(handle, result.error().message);
}

const json* find(const json& object, std::string_view path) {
  if (path.empty()) return &object;
  if (!object.is_object()) return nullptr;
  if (const auto whole = object.find(std::string(path)); whole != object.end()) return &*whole;
  const std::size_t dot = path.find('.');
  if (dot == path.npos || dot + 1 == path.size()) return nullptr;
  const auto member = object.find(std::string(path.substr(0, dot)));
  return member == object.end() ? nullptr : find(*member, path.substr(dot + 1));
}

// `take` stores the value, or is false for a value of another type.
template <class Take>
int get(attune_trial* handle, const char* path, const char* type, Take&& take) noexcept {
  return guarded(handle, [&](Trial&) {
    if (!handle->parameters) {
      return failed(handle, "parameter " + std::string(path) +
                                " before attune_trial_next_parameters(): there is none yet");
    }
    const json* value = find(*handle->parameters, path);
    if (value == nullptr) {
      return failed(handle, "there is no parameter " + std::string(path), ATTUNE_TRIAL_NONE);
    }
    if (take(*value)) return int{ATTUNE_TRIAL_OK};
    return failed(handle,
                  "parameter " + std::string(path) + " is " +
                      std::string(attune::json_type_name(*value)) + ", not " + type,
                  ATTUNE_TRIAL_TYPE);
  });
}

json named_values(const char* const* names, const double* values, std::size_t count) {
  json metrics = json::object();
  for (std::size_t i = 0; i < count; ++i) metrics[names[i]] = values[i];
  return metrics;
}

using Send = Result<void> (Trial::*)(const json&);

int send(attune_trial* handle, Send send, const json& metrics) noexcept {
  return guarded(handle, [&](Trial& trial) { return answer(handle, (trial.*send)(metrics)); });
}

int send_text(attune_trial* handle, Send send, const char* text) noexcept {
  return guarded(handle, [&](Trial& trial) {
    const auto metrics = attune::parse_json(text);
    if (!metrics) return failed(handle, "a report: " + metrics.error().message);
    return answer(handle, (trial.*send)(*metrics));
  });
}

int send_values(attune_trial* handle, Send send, const char* const* names, const double* values,
                std::size_t count) noexcept {
  return guarded(handle, [&](Trial& trial) {
    return answer(handle, (trial.*send)(named_values(names, values, count)));
  });
}

Result<Trial> open(const char* defaults, const char* checkpoint_dir) {
  attune::TrialOptions options;
  if (defaults != nullptr) {
    auto parsed = attune::parse_json(defaults);
    if (!parsed) return fail("the defaults of the trial: " + parsed.error().message);
    options.defaults = *std::move(parsed);
  }
  if (checkpoint_dir != nullptr) options.checkpoint_dir = checkpoint_dir;
  return Trial::from_environment(options);
}

}  // namespace

int attune_trial_open(const char* defaults, const char* checkpoint_dir, attune_trial** trial) {
  *trial = new (std::nothrow) attune_trial;
  if (*trial == nullptr) return ATTUNE_TRIAL_FAILED;
  try {
    auto opened = open(defaults, checkpoint_dir);
    if (!opened) return failed(*trial, opened.error().message);
    (*trial)->output_directory = opened->output_directory().string();
    if (opened->checkpoint_dir()) (*trial)->checkpoint_dir = opened->checkpoint_dir()->string();
    (*trial)->trial = *std::move(opened);
    return ATTUNE_TRIAL_OK;
  } catch (const std::exception& error) {
    return failed(*trial, error.what());
  }
}

void attune_trial_free(attune_trial* trial) { delete trial; }

const char* attune_trial_error(const attune_trial* trial) {
  return trial == nullptr ? "no memory for a trial" : trial->error.c_str();
}

const char* attune_trial_id(const attune_trial* trial) {
  return trial->trial ? trial->trial->id().c_str() : "";
}
int64_t attune_trial_sequence(const attune_trial* trial) {
  return trial->trial ? trial->trial->sequence() : 0;
}
int64_t attune_trial_attempt(const attune_trial* trial) {
  return trial->trial ? trial->trial->attempt() : 0;
}
int attune_trial_stand_alone(const attune_trial* trial) {
  return trial->trial && trial->trial->stand_alone() ? 1 : 0;
}
const char* attune_trial_output_directory(const attune_trial* trial) {
  return trial->output_directory.c_str();
}

int attune_trial_next_parameters(attune_trial* trial) {
  return guarded(trial, [&](Trial& t) {
    auto next = t.next_parameters();
    if (!next) return failed(trial, next.error().message);
    if (!*next) return failed(trial, "there are no more parameters", ATTUNE_TRIAL_NONE);
    trial->parameters = **std::move(next);
    return int{ATTUNE_TRIAL_OK};
  });
}

int attune_trial_get_double(attune_trial* trial, const char* path, double* value) {
  return get(trial, path, "a number", [&](const json& found) {
    if (found.is_number()) *value = found.get<double>();
    return found.is_number();
  });
}

int attune_trial_get_int64(attune_trial* trial, const char* path, int64_t* value) {
  return get(trial, path, "an integer of 64 bits", [&](const json& found) {
    if (found.is_number_unsigned()) {
      if (found.get<std::uint64_t>() > std::uint64_t{INT64_MAX}) return false;
    } else if (found.is_number_float()) {
      const double number = found.get<double>();
      // Beyond 2^53 a double does not say which integer was meant.
      if (!(std::abs(number) <= 0x1p53) || number != std::trunc(number)) return false;
    } else if (!found.is_number_integer()) {
      return false;
    }
    *value = found.get<std::int64_t>();
    return true;
  });
}

int attune_trial_get_bool(attune_trial* trial, const char* path, int* value) {
  return get(trial, path, "a boolean", [&](const json& found) {
    if (found.is_boolean()) *value = found.get<bool>() ? 1 : 0;
    return found.is_boolean();
  });
}

int attune_trial_get_string(attune_trial* trial, const char* path, const char** value) {
  return get(trial, path, "a string", [&](const json& found) {
    if (found.is_string()) *value = found.get_ref<const std::string&>().c_str();
    return found.is_string();
  });
}

int attune_trial_get_json(attune_trial* trial, const char* path, const char** value) {
  return get(trial, path, "", [&](const json& found) {
    trial->text = attune::dump_python_json(found);
    *value = trial->text.c_str();
    return true;
  });
}

int attune_trial_report(attune_trial* trial, double value) {
  return send(trial, &Trial::report, value);
}
int attune_trial_report_json(attune_trial* trial, const char* metrics) {
  return send_text(trial, &Trial::report, metrics);
}
int attune_trial_report_values(attune_trial* trial, const char* const* names, const double* values,
                               size_t count) {
  return send_values(trial, &Trial::report, names, values, count);
}
int attune_trial_final(attune_trial* trial, double value) {
  return send(trial, &Trial::final, value);
}
int attune_trial_final_json(attune_trial* trial, const char* metrics) {
  return send_text(trial, &Trial::final, metrics);
}
int attune_trial_final_values(attune_trial* trial, const char* const* names, const double* values,
                              size_t count) {
  return send_values(trial, &Trial::final, names, values, count);
}

const char* attune_trial_checkpoint_dir(const attune_trial* trial) {
  return trial->checkpoint_dir.empty() ? nullptr : trial->checkpoint_dir.c_str();
}

int attune_trial_save(attune_trial* trial, const char* name, const void* bytes, size_t size) {
  return guarded(trial, [&](Trial& t) {
    return answer(trial, t.save(name, std::string_view(static_cast<const char*>(bytes), size)));
  });
}

int attune_trial_restore(attune_trial* trial, const char* name, const void** bytes, size_t* size) {
  return guarded(trial, [&](Trial& t) {
    auto found = t.restore(name);
    if (!found) return failed(trial, found.error().message);
    if (!*found) {
      return failed(trial, std::string(name) + " was never saved", ATTUNE_TRIAL_NONE);
    }
    trial->bytes = **std::move(found);
    *bytes = trial->bytes.c_str();
    *size = trial->bytes.size();
    return int{ATTUNE_TRIAL_OK};
  });
}

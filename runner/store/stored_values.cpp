#include "runner/store/stored_values.h"

#include <array>
#include <utility>

#include "base/python_json.h"

namespace attune {
namespace {

constexpr std::array kEndings = {
    std::pair{Ending::succeeded, std::string_view("succeeded")},
    std::pair{Ending::failed, std::string_view("failed")},
    std::pair{Ending::signalled, std::string_view("signalled")},
    std::pair{Ending::out_of_memory, std::string_view("out_of_memory")},
    std::pair{Ending::lost, std::string_view("lost")},
    std::pair{Ending::restore_failed, std::string_view("restore_failed")},
    std::pair{Ending::stopped, std::string_view("stopped")},
    std::pair{Ending::paused, std::string_view("paused")},
};

}  // namespace

std::string metric_column(const json& metric) {
  return metric.is_null() ? std::string() : dump_python_json(metric);
}

std::optional<double> number_of(const json& metric, const std::string& name) {
  const json* value = &metric;
  if (metric.is_object()) {
    const auto found = metric.find(name);
    if (found == metric.end()) return std::nullopt;
    value = &*found;
  } else if (name != "default") {
    return std::nullopt;
  }
  if (value->is_boolean()) return value->get<bool>() ? 1 : 0;  // as the daemon counts them
  if (!value->is_number()) return std::nullopt;
  return value->get<double>();
}

std::string_view to_text(Ending ending) {
  for (const auto& [each, text] : kEndings) {
    if (each == ending) return text;
  }
  return "";
}

std::string_view to_text(ReportMetricData::Type type) {
  switch (type) {
    case ReportMetricData::Type::periodical:
      return "periodical";
    case ReportMetricData::Type::final:
      return "final";
    case ReportMetricData::Type::request_parameter:
      return "request_parameter";
  }
  return "";
}

std::optional<TrialStatus> trial_status_of(std::string_view text) {
  for (const TrialStatus status :
       {TrialStatus::pending, TrialStatus::running, TrialStatus::paused, TrialStatus::succeeded,
        TrialStatus::failed, TrialStatus::early_stopped, TrialStatus::user_canceled}) {
    if (to_text(status) == text) return status;
  }
  return std::nullopt;
}

std::optional<TrialSource> trial_source_of(std::string_view text) {
  for (const TrialSource source :
       {TrialSource::algorithm, TrialSource::customized, TrialSource::initial}) {
    if (to_text(source) == text) return source;
  }
  return std::nullopt;
}

std::optional<Ending> ending_of(std::string_view text) {
  for (const auto& [ending, each] : kEndings) {
    if (each == text) return ending;
  }
  return std::nullopt;
}

ParameterId parameter_id_of(const json& value) {
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (value.is_string()) return value.get<std::string>();
  return std::monostate{};
}

}  // namespace attune

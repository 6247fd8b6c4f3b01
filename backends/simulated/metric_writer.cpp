#include "backends/simulated/metric_writer.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <utility>

#include "protocol/codec.h"

namespace attune {
namespace {

// As Python's json writes it; it is always read back as a real number.
std::string number_text(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == text.npos) text += ".0";
  return text;
}

std::string within_text(const json& value) {
  const std::string text = dump_json(dump_json(value));
  return text.substr(1, text.size() - 2);
}

}  // namespace

MetricWriter::MetricWriter(const ParameterId& parameter_id, const std::string& job_id, bool plain,
                           std::string metric)
    : plain_(plain),
      name_(std::move(metric)),
      name_text_(within_text(name_)),
      head_(fmt::format(R"({{"parameter_id":{},"trial_job_id":{},"type":")",
                        dump_json(to_json(parameter_id)), dump_json(job_id))) {
  metric_.parameter_id = parameter_id;
  metric_.trial_job_id = job_id;
}

TrialReport MetricWriter::periodical(double value, int epoch, double seconds) {
  return report(ReportMetricData::Type::periodical, sequence_++, value, epoch, seconds);
}

TrialReport MetricWriter::final(double value, int epoch) {
  return report(ReportMetricData::Type::final, 0, value, epoch, std::nullopt);
}

// Formatted by hand: writing a tree of JSON values takes several times as long.
TrialReport MetricWriter::report(ReportMetricData::Type type, std::int64_t sequence, double value,
                                 int epoch, std::optional<double> seconds) {
  ReportMetricData metric = metric_;
  metric.type = type;
  metric.sequence = sequence;
  std::string text = head_;
  auto out = std::back_inserter(text);
  fmt::format_to(out, R"({}","sequence":{},"value":")",
                 type == ReportMetricData::Type::final ? "FINAL" : "PERIODICAL", sequence);
  if (plain_) {
    metric.value = value;
    text += number_text(value);
  } else {
    metric.value = json{{name_, value}, {"training_iteration", epoch}};
    fmt::format_to(out, R"({{{}:{},\"training_iteration\":{})", name_text_, number_text(value),
                   epoch);
    if (seconds) {
      metric.value["time_this_iter_s"] = *seconds;
      fmt::format_to(out, R"(,\"time_this_iter_s\":{})", number_text(*seconds));
    }
    text += '}';
  }
  text += "\"}";
  std::string job_id = metric.trial_job_id;
  return {std::move(job_id), std::move(text), std::move(metric), 0, ++position_, false};
}

}  // namespace attune

#include "backends/simulated/recorded_curves.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

namespace attune {
namespace {

struct Row {
  SimulatedCurve curve;
  json parameters;  // an object, or null when the file has none
};

// One of the parameters that the rows name, and the distance of two of its values.
struct Dimension {
  std::string name;
  bool numeric = true, logarithmic = false;
  double low = std::numeric_limits<double>::infinity(), high = -low;

  double unit(double value) const {
    if (high <= low) return value == low ? 0 : 1;
    if (!logarithmic) return (value - low) / (high - low);
    // A value that is not positive counts as one whole range below the lowest recorded value.
    return value > 0 ? std::log(value / low) / std::log(high / low) : -1;
  }
  double distance(const json& a, const json& b) const {
    if (!numeric || !a.is_number() || !b.is_number()) return a == b ? 0 : 1;
    return std::abs(unit(a.get<double>()) - unit(b.get<double>()));
  }
};

bool is_numbers(const json& value) {
  return value.is_array() && !value.empty() &&
         std::ranges::all_of(value, [](const json& item) { return item.is_number(); });
}

Result<std::string> metric_of(const json& row) {
  std::string found;
  for (const auto& [key, value] : row.items()) {
    if (key == "epoch_seconds" || !is_numbers(value)) continue;
    if (!found.empty()) {
      return fail(fmt::format("\"{}\" and \"{}\" may both be the metric: name one", found, key));
    }
    found = key;
  }
  if (found.empty()) return fail("no key holds an array of numbers, the metric after each epoch");
  return found;
}

Result<Row> read_row(const json& object, const std::string& metric) {
  if (!object.is_object()) return fail("a row is an object");
  const std::string key = metric.empty() ? TRY(metric_of(object)) : metric;
  const json values = object.value(key, json());
  if (!is_numbers(values)) return fail(fmt::format("\"{}\" is no array of numbers", key));
  Row row;
  row.curve.values = values.get<std::vector<double>>();

  const json seconds = object.value("epoch_seconds", json(1.0));
  if (seconds.is_number()) {
    row.curve.seconds.assign(values.size(), seconds.get<double>());
  } else if (is_numbers(seconds) && seconds.size() == values.size()) {
    row.curve.seconds = seconds.get<std::vector<double>>();
  } else {
    return fail("\"epoch_seconds\" is a number, or as many numbers as there are epochs");
  }
  // Not `< 0`: NaN is refused too.
  if (!std::ranges::all_of(row.curve.seconds, [](double s) { return s >= 0 && std::isfinite(s); }))
    return fail("\"epoch_seconds\" is negative or not finite");

  row.parameters = object.value("parameters", json());
  if (!row.parameters.is_null() && !row.parameters.is_object())
    return fail("\"parameters\" is no object");
  return row;
}

Result<json> rows_of(std::string_view text, const std::string& name) {
  if (auto document = parse_json(text)) {
    if (document->is_array()) return document;
    if (document->is_object() && document->contains("curves")) return (*document)["curves"];
  }
  json rows = json::array();
  for (int line = 1; !text.empty(); ++line) {
    const std::string_view row = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), row.size() + 1));
    if (row.find_first_not_of(" \t\r") == row.npos) continue;
    auto parsed = parse_json(row);
    if (!parsed) return fail(fmt::format("{}:{}: {}", name, line, parsed.error().message));
    rows.push_back(*std::move(parsed));
  }
  return rows;
}

std::vector<Dimension> dimensions_of(const std::vector<Row>& rows) {
  std::vector<Dimension> dimensions;
  for (const Row& row : rows) {
    for (const auto& [name, value] : row.parameters.items()) {
      auto found = std::ranges::find(dimensions, name, &Dimension::name);
      if (found == dimensions.end()) found = dimensions.insert(found, Dimension{.name = name});
      found->numeric = found->numeric && value.is_number();
      if (!found->numeric) continue;
      found->low = std::min(found->low, value.get<double>());
      found->high = std::max(found->high, value.get<double>());
    }
  }
  for (Dimension& d : dimensions) d.logarithmic = d.numeric && d.low > 0 && d.high >= 100 * d.low;
  return dimensions;
}

class RecordedCurves final : public CurveSource {
 public:
  RecordedCurves(std::vector<Row> rows, std::string name)
      : rows_(std::move(rows)), name_(std::move(name)) {
    if (!rows_.front().parameters.is_null()) dimensions_ = dimensions_of(rows_);
  }

  Result<SimulatedCurve> curve(const json& parameters, std::int64_t sequence) const override {
    if (dimensions_) return nearest(parameters).curve;
    if (sequence < 0 || sequence >= std::ssize(rows_)) {
      return fail(
          fmt::format("{} has {} curves, none for trial {}: add some, or lower "
                      "maxTrialNumber",
                      name_, rows_.size(), sequence));
    }
    return rows_[static_cast<std::size_t>(sequence)].curve;
  }

  std::string description() const override {
    return fmt::format("{} recorded learning curves of {}", rows_.size(), name_);
  }

 private:
  const Row& nearest(const json& parameters) const {
    double best = std::numeric_limits<double>::infinity();
    const Row* found = &rows_.front();
    for (const Row& row : rows_) {
      double distance = 0;
      for (const Dimension& d : *dimensions_) {
        const auto ours = parameters.find(d.name);
        const auto theirs = row.parameters.find(d.name);
        const bool here = ours != parameters.end(), there = theirs != row.parameters.end();
        distance += here && there ? d.distance(*ours, *theirs) : (here == there ? 0 : 1);
        if (distance >= best) break;
      }
      if (distance < best) {
        best = distance;
        found = &row;
      }
    }
    return *found;
  }

  std::vector<Row> rows_;
  std::string name_;
  std::optional<std::vector<Dimension>> dimensions_;  // nothing: rows are taken in order
};

}  // namespace

Result<std::unique_ptr<CurveSource>> recorded_curves(std::string_view text, const std::string& name,
                                                     const std::string& metric) {
  const json objects = TRY(rows_of(text, name));
  std::vector<Row> rows;
  for (const json& object : objects) {
    auto row = read_row(object, metric);
    if (!row) return fail(fmt::format("{}, row {}: {}", name, rows.size(), row.error().message));
    if (!rows.empty() && rows.front().parameters.is_null() != row->parameters.is_null()) {
      return fail(fmt::format("{}, row {}: either all rows have \"parameters\" or none", name,
                              rows.size()));
    }
    rows.push_back(*std::move(row));
  }
  if (rows.empty()) return fail(fmt::format("{}: no learning curves in it", name));
  return std::make_unique<RecordedCurves>(std::move(rows), name);
}

}  // namespace attune

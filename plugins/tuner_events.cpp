#include "plugins/tuner_events.h"

#include <algorithm>
#include <string>
#include <unordered_map>

#include "base/saved_numbers.h"
#include "space/saved_point.h"

namespace attune {
namespace {

enum EventKind { kAdopted, kWithdrawn, kOutcome, kReport };

// One event behind the other, as numbers: the kind, the trial, and what the kind has.
class EventWriter {
 public:
  void operator()(const Adopted& e) {
    head(kAdopted, e.trial);
    add(e.point);
  }
  void operator()(const Withdrawn& e) { head(kWithdrawn, e.trial); }
  void operator()(const Outcome& e) {
    head(kOutcome, e.trial);
    numbers_.push_back(static_cast<double>(e.end));
    add(e.loss);
    add(e.budget);
    numbers_.push_back(e.extra.is_null() ? -1 : static_cast<double>(extras_.size()));
    if (!e.extra.is_null()) extras_.push_back(e.extra);
    add(e.metrics);
    add(e.point);
  }
  void operator()(const Report& e) {
    head(kReport, e.trial);
    numbers_.push_back(static_cast<double>(e.step));
    add(e.metrics);
  }
  json state() const {
    return {{"numbers", save_numbers(numbers_)}, {"names", names_}, {"extras", extras_}};
  }

 private:
  void head(EventKind kind, TrialId trial) {
    numbers_.push_back(kind);
    numbers_.push_back(static_cast<double>(trial));
  }
  void add(const std::optional<double>& x) {
    numbers_.push_back(x ? 1 : 0);
    numbers_.push_back(x.value_or(0));
  }
  void add(const Point& point) {
    if (!point.parameters.is_null()) {
      numbers_.push_back(static_cast<double>(extras_.size()));
      extras_.push_back(point.parameters);
    }
    numbers_.insert(numbers_.end(), point.values.begin(), point.values.end());
  }
  void add(const Metrics& metrics) {
    numbers_.push_back(static_cast<double>(metrics.size()));
    for (const auto& [name, value] : metrics) {
      const auto [at, is_new] = known_.try_emplace(name, static_cast<double>(names_.size()));
      if (is_new) names_.push_back(name);
      numbers_.push_back(at->second);
      numbers_.push_back(value);
    }
  }

  std::vector<double> numbers_;
  json names_ = json::array(), extras_ = json::array();
  std::unordered_map<std::string, double> known_;
};

class EventReader {
 public:
  EventReader(const Space& space, std::vector<double> numbers, json names, json extras)
      : space_(space),
        numbers_(std::move(numbers)),
        names_(std::move(names)),
        extras_(std::move(extras)) {}

  bool done() const { return at_ == numbers_.size(); }

  Result<TunerEvent> next() {
    const auto kind = TRY(index(kReport + 1));
    const auto trial = static_cast<TrialId>(TRY(whole()));
    if (kind == kAdopted) return Adopted{trial, TRY(point(Gaps::none))};
    if (kind == kWithdrawn) return Withdrawn{trial};
    if (kind == kReport) {
      Report report{.trial = trial, .step = static_cast<std::int64_t>(TRY(whole())), .metrics = {}};
      report.metrics = TRY(metrics());
      return report;
    }
    Outcome outcome{.trial = trial};
    outcome.end = static_cast<End>(TRY(index(static_cast<int>(End::imported) + 1)));
    outcome.loss = TRY(optional());
    outcome.budget = TRY(optional());
    const double extra = TRY(whole());
    if (extra >= static_cast<double>(extras_.size())) return odd();
    if (extra >= 0) outcome.extra = extras_[static_cast<std::size_t>(extra)];
    outcome.metrics = TRY(metrics());
    outcome.point = TRY(point(Gaps::allowed));
    return outcome;
  }

 private:
  static std::unexpected<Error> odd() { return fail("saved state: an impossible event"); }

  Result<double> number() {
    if (done()) return odd();
    return numbers_[at_++];
  }
  Result<double> whole() {
    const double x = TRY(number());
    constexpr double kMost = 0x1p53;
    if (!is_whole(x) || x > kMost || x < -kMost) return odd();
    return x;
  }
  Result<int> index(int end) {
    const double x = TRY(number());
    if (!is_index(x, end)) return odd();
    return static_cast<int>(x);
  }
  Result<std::optional<double>> optional() {
    const int has = TRY(index(2));
    const double x = TRY(number());
    return has == 1 ? std::optional(x) : std::nullopt;
  }
  Result<Metrics> metrics() {
    const double count = TRY(number());
    if (!is_index(count, static_cast<double>(numbers_.size()))) return odd();
    Metrics metrics;
    for (double i = 0; i < count; ++i) {
      const double name = TRY(number());
      if (!is_index(name, static_cast<double>(names_.size()))) return odd();
      const json& text = names_[static_cast<std::size_t>(name)];
      if (!text.is_string()) return odd();
      const double value = TRY(number());
      metrics.emplace_back(text.get<std::string>(), value);
    }
    return metrics;
  }
  Result<Point> point(Gaps gaps) {
    if (!space_.unread.is_null()) {
      const double i = TRY(number());
      if (!is_index(i, static_cast<double>(extras_.size()))) return odd();
      return point_from_json(space_, extras_[static_cast<std::size_t>(i)]);
    }
    const std::size_t size = space_.params.size();
    if (numbers_.size() - at_ < size) return odd();
    const auto from = numbers_.begin() + static_cast<std::ptrdiff_t>(at_);
    Point point{{from, from + static_cast<std::ptrdiff_t>(size)}};
    at_ += size;
    TRY(check_point(space_, point, gaps));
    return point;
  }

  const Space& space_;
  std::vector<double> numbers_;
  json names_, extras_;
  std::size_t at_ = 0;
};

}  // namespace

json save_events(const TunerEvents& events) {
  EventWriter writer;
  for (const TunerEvent& event : events) std::visit(writer, event);
  return writer.state();
}

Result<TunerEvents> load_events(const Space& space, const json& state) {
  auto numbers = TRY(numbers_at(state, "numbers"));
  auto names = TRY(array_at(state, "names"));
  auto extras = TRY(array_at(state, "extras"));
  EventReader reader(space, std::move(numbers), std::move(names), std::move(extras));
  TunerEvents events;
  while (!reader.done()) events.push_back(TRY(reader.next()));
  return events;
}

}  // namespace attune

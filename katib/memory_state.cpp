// What outlives a memory: the echo, which Katib returns with the next request, and the saved state.
#include <algorithm>

#include "base/saved_numbers.h"
#include "katib/memory.h"

namespace attune::katib {
namespace {

constexpr int kFormat = 1;
// Kubernetes takes objects of 1.5 MB at the most. A larger echo goes without the memory, and then
// without the open proposals.
constexpr std::size_t kMostEcho = 200'000;
constexpr std::size_t kMostTrials = 1000;  // of a memory in an echo; more would not fit anyway
constexpr std::int64_t kMostNumber = std::int64_t{1} << 50;

bool is_number(std::int64_t x) { return x >= 0 && x <= kMostNumber; }

Result<Values> values_from(const Plan& plan, const json& value) {
  if (!value.is_array() || value.size() != plan.parameters.size()) {
    return fail("saved state: a text for each parameter expected");
  }
  Values values;
  for (std::size_t i = 0; i < value.size(); ++i) {
    if (!value[i].is_string()) return fail("saved state: values are texts");
    values.push_back(value[i].get<std::string>());
    if (!plan.parameters[i].value_of(values.back())) {
      return fail("saved state: " + plan.parameters[i].name() + " has no such value");
    }
  }
  return values;
}

}  // namespace

// Anybody can write the settings of an experiment: an echo that is not ours counts as none.
std::optional<Memory::Echo> Memory::read_echo(const Plan& plan) const {
  if (plan.echo.empty()) return std::nullopt;
  const auto parsed = parse_json(plan.echo);
  if (!parsed || !parsed->is_object()) return std::nullopt;
  const auto next = integer_at(*parsed, "next");
  const auto open = array_at(*parsed, "open");
  if (!next || !is_number(*next) || !open) return std::nullopt;
  Echo echo{.next = *next};
  if (const auto memory = object_at(*parsed, "memory")) echo.memory = *memory;
  for (const json& one : *open) {
    if (!one.is_array() || one.size() != 2 || !one[0].is_number_integer()) return std::nullopt;
    const auto number = one[0].get<std::int64_t>();
    auto values = values_from(plan, one[1]);
    if (!values || number < 0 || number >= *next) return std::nullopt;
    echo.open.emplace(number, *std::move(values));
  }
  return echo;
}

void Memory::write_echo(Reply& reply, std::int64_t next) const {
  json open = json::array();
  for (auto at = open_.begin(); at != open_.lower_bound(next); ++at) {
    open.push_back({at->first, at->second.values});
  }
  json echo = {{"next", next}, {"open", std::move(open)}};
  if (known_.size() <= kMostTrials) echo["memory"] = save();
  std::string text = dump_json(echo);
  if (text.size() > kMostEcho && echo.erase("memory") > 0) text = dump_json(echo);
  if (text.size() > kMostEcho) text = dump_json({{"next", next}, {"open", json::array()}});
  auto& setting = *reply.mutable_algorithm()->add_algorithm_settings();
  setting.set_name(std::string(kEchoSetting));
  setting.set_value(std::move(text));
}

json Memory::save() const {
  json open = json::array(), known = json::array();
  for (const auto& [number, each] : open_) open.push_back({number, each.id, each.values});
  for (const auto& [name, trial] : known_) {
    known.push_back({name, trial.id ? json(*trial.id) : json(nullptr), trial.told});
  }
  json state = {{"format", kFormat},     {"identity", hash_of(identity_)}, {"next", next_},
                {"begun_at", begun_at_}, {"accepted", accepted_},          {"deleted", deleted_},
                {"unknown", unknown_}};
  state["open"] = std::move(open);
  state["known"] = std::move(known);
  state["engine"] = engine_ ? engine_->save() : json(nullptr);
  return state;
}

Result<void> Memory::load(const Plan& plan, const json& saved) {
  if (TRY(integer_at(saved, "format")) != kFormat) return fail("it has another format");
  if (TRY(value_at(saved, "identity")) != hash_of(plan.identity)) {
    return fail("it is of another experiment");
  }
  forget();
  experiment_ = plan.experiment;
  const std::int64_t next = TRY(integer_at(saved, "next"));
  for (const json& one : TRY(array_at(saved, "open"))) {
    if (!one.is_array() || one.size() != 3 || !one[0].is_number_integer() ||
        !one[1].is_number_integer()) {
      return fail("saved state: a proposal is a number, an id and values");
    }
    const auto number = one[0].get<std::int64_t>();
    if (number < 0 || number >= std::min(next, kMostNumber)) {
      return fail("saved state: a proposal that was never made");
    }
    add_open(number, {one[1].get<TrialId>(), TRY(values_from(plan, one[2]))});
  }
  for (const json& one : TRY(array_at(saved, "known"))) {
    if (!one.is_array() || one.size() != 3 || !one[0].is_string() || !one[2].is_boolean()) {
      return fail("saved state: a trial is a name, an id and a flag");
    }
    Known known{.told = one[2].get<bool>()};
    if (one[1].is_number_integer()) known.id = one[1].get<TrialId>();
    known_.emplace(one[0].get<std::string>(), known);
  }
  next_ = next;
  begun_at_ = TRY(integer_at(saved, "begun_at"));
  accepted_ = TRY(integer_at(saved, "accepted"));
  deleted_ = TRY(integer_at(saved, "deleted"));
  unknown_ = TRY(integer_at(saved, "unknown"));
  for (const std::int64_t number : {next_, begun_at_, accepted_, deleted_, unknown_}) {
    if (!is_number(number)) return fail("saved state: an impossible number");
  }
  engine_ = TRY(Engine::make(plan, surroundings_.tuners, hash_of(plan.identity),
                             static_cast<std::uint64_t>(begun_at_), TRY(object_at(saved, "engine")),
                             surroundings_.log));
  return {};
}

}  // namespace attune::katib

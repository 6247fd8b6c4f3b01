#include "tuners/parts/portfolio.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/algorithm_failure.h"
#include "base/saved_numbers.h"

namespace attune {

namespace {

// A call that has succeeded before. Only a plug-in can fail at it now.
void require(const Result<void>& done, const std::string& member) {
  if (!done) throw AlgorithmFailure(member + ": " + done.error().message);
}

}  // namespace

Result<void> Portfolio::add(const TunerEntry& entry, const TunerContext& context, const Rng& rng) {
  TunerContext shared = context;
  shared.pauses = false;  // a pause concerns all members
  auto made = TRY(make_member(entry, shared, rng.fork(entry.name)));
  if (!made) {
    return fail(entry.name +
                " cannot share an experiment: it judges reports, or writes its own parameters");
  }
  members_.push_back({entry.name, std::move(made)});
  return {};
}

Result<void> Portfolio::set_space(const Space& space) {
  const json before = space_ ? save() : json();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    auto set = members_[i].tuner->set_space(space);
    if (set) continue;
    // set_space() made the members before this one forget everything: give it back to them.
    for (std::size_t k = 0; space_ && k < i; ++k) {
      Member& member = members_[k];
      require(member.tuner->set_space(*space_), member.name);
      if (!earlier_.empty()) member.tuner->learn_from(earlier_);
      require(member.tuner->load(before[member.name]), member.name);
    }
    return fail(members_[i].name + ": " + set.error().message);
  }
  space_ = space;
  earlier_.clear();
  return {};
}

bool Portfolio::set_priors(const Space& space) {
  bool taken = true;
  for (Member& member : members_) taken = member.tuner->set_priors(space) && taken;
  if (taken) space_ = space;
  return taken;
}

bool Portfolio::learns_from_earlier() const {
  return std::ranges::any_of(members_,
                             [](const Member& each) { return each.tuner->learns_from_earlier(); });
}

std::vector<Point> Portfolio::learn_from(std::span<const EarlierTask> tasks) {
  earlier_.assign(tasks.begin(), tasks.end());
  std::vector<Point> starts;
  for (Member& member : members_) {
    auto of_member = member.tuner->learn_from(tasks);
    if (starts.empty()) starts = std::move(of_member);
  }
  return starts;
}

Answer Portfolio::ask(TrialId id, std::size_t& who) {
  Answer answer = Exhausted{};
  for (std::size_t step = 0; step < members_.size(); ++step) {
    const std::size_t i = (who + step) % members_.size();
    Answer given = std::move(members_[i].tuner->ask(std::span(&id, 1)).front());
    if (std::holds_alternative<Exhausted>(given)) continue;
    // NotYet stays the answer if none of the others has a proposal.
    answer = std::move(given);
    if (const auto* proposal = std::get_if<Proposal>(&answer)) {
      check_is_new(*proposal, members_[i].name);
      for (std::size_t k = 0; k < members_.size(); ++k) {
        if (k != i) members_[k].tuner->adopt(id, proposal->point);
      }
      who = i;
      break;
    }
  }
  return answer;
}

void Portfolio::withdraw(TrialId id) {
  for (Member& member : members_) member.tuner->withdraw(id);
}

void Portfolio::tell(std::span<const Outcome> outcomes) {
  for (Member& member : members_) member.tuner->tell(outcomes);
}

void Portfolio::adopt(TrialId id, const Point& point) {
  for (Member& member : members_) member.tuner->adopt(id, point);
}

void Portfolio::skip_ahead() {
  for (Member& member : members_) member.tuner->skip_ahead();
}

// Of each member that has any: its number, their length in bytes, and the notes, as in "1 5 hello".
std::string Portfolio::take_notes() {
  std::string notes;
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const std::string of_member = members_[i].tuner->take_notes();
    if (!of_member.empty()) notes += fmt::format("{} {} {}", i, of_member.size(), of_member);
  }
  return notes;
}

void Portfolio::replay_notes(const std::string& notes) {
  std::vector<std::string> of_members(members_.size());
  std::string_view rest = notes;
  const auto number = [&rest]() -> std::optional<std::size_t> {
    std::size_t value = 0;
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
    if (error != std::errc() || end == rest.data() + rest.size() || *end != ' ') return {};
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()) + 1);
    return value;
  };
  while (!rest.empty()) {
    const auto member = number();
    const auto size = member ? number() : std::nullopt;
    if (!size || *member >= members_.size() || *size > rest.size()) {
      throw AlgorithmFailure("the journal has damaged notes of the members of an ensemble");
    }
    of_members[*member] += rest.substr(0, *size);
    rest.remove_prefix(*size);
  }
  for (std::size_t i = 0; i < members_.size(); ++i) members_[i].tuner->replay_notes(of_members[i]);
}

void Portfolio::end_replay() {
  for (Member& member : members_) member.tuner->end_replay();
}

json Portfolio::save() const {
  json state = json::object();
  for (const Member& member : members_) state[member.name] = member.tuner->save();
  return state;
}

Result<void> Portfolio::load(const json& state) {
  const json before = save();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto of_member = object_at(state, members_[i].name);
    auto loaded = of_member ? members_[i].tuner->load(*of_member)
                            : Result<void>(std::unexpected(of_member.error()));
    if (loaded) continue;
    for (std::size_t k = 0; k < i; ++k) {
      require(members_[k].tuner->load(before[members_[k].name]), members_[k].name);
    }
    return fail(members_[i].name + ": " + loaded.error().message);
  }
  return {};
}

}  // namespace attune

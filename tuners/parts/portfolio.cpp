#include "tuners/parts/portfolio.h"

#include "base/check.h"
#include "base/saved_numbers.h"

namespace attune {

Result<void> Portfolio::add(const TunerEntry& entry, const json& arguments, const Context& context,
                            const Rng& rng) {
  const json resolved = TRY(resolve_arguments(entry.name, entry.arguments, arguments));
  Context shared = context;
  shared.pauses = false;  // a pause concerns all members
  auto made = TRY(entry.make(resolved, shared, rng.fork(entry.name)));
  ATTUNE_CHECK(!made->wants_reports());
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
      ATTUNE_CHECK(member.tuner->set_space(*space_).has_value());
      ATTUNE_CHECK(member.tuner->load(before[member.name]).has_value());
    }
    return fail(members_[i].name + ": " + set.error().message);
  }
  space_ = space;
  return {};
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
      ATTUNE_CHECK(members_[k].tuner->load(before[members_[k].name]).has_value());
    }
    return fail(members_[i].name + ": " + loaded.error().message);
  }
  return {};
}

}  // namespace attune

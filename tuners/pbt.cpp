// Population based training in synchronous epochs, as NNI's PBTTuner: each member of a population
// trains for one epoch, as a trial of its own. When all have ended, each of the worst becomes a
// copy of one of the best, with a changed configuration, and the next epoch begins. The trials save
// and load checkpoints themselves, in folders that this tuner names: `load_checkpoint_dir` and
// `save_checkpoint_dir` stand beside the parameters of the search space.
//
// Source: Jaderberg et al., "Population Based Training of Neural Networks" (2017), with NNI's rule
// for the steps (tuners/parts/explore.h). It differs from NNI in this:
//
// * A trial that ends without a result counts as failed, so the epoch goes on. NNI waits for ever.
// * A failed member has saved nothing to go on from. So it always becomes a copy, and nobody copies
//   it. If all failed, they try again with new configurations, from what they had loaded before.
// * Whether the folders of an import exist is not checked: a tuner reads no files.
#include <algorithm>
#include <deque>
#include <map>
#include <ranges>
#include <set>
#include <utility>

#include "base/saved_numbers.h"
#include "rungs/population_epochs.h"
#include "rungs/reason_text.h"
#include "space/saved_point.h"
#include "tuners/parts/explore.h"
#include "tuners/registry.h"

namespace attune {
namespace pbt_tuner {
namespace {

constexpr const char* kLoad = "load_checkpoint_dir";
constexpr const char* kSave = "save_checkpoint_dir";

struct Settings {
  std::string folder;
  std::size_t size = 10;
  double fraction = 0.2;
  NniExplore explore;
  Objective objective = {};
};

struct Member {
  std::string folder;               // of all its checkpoints
  std::string load;                 // the checkpoint that it starts from
  Point point = {};                 // in this epoch
  std::optional<double> loss = {};  // of this epoch; nothing: not ended, or failed
  std::string copies = {};          // for a human: whom it copies in this epoch; empty: nobody
};

// The last name of a path, and what stands before it.
std::pair<std::string, std::string> split(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string::npos) return {"", path};
  return {path.substr(0, slash), path.substr(slash + 1)};
}

class Pbt final : public Tuner {
 public:
  Pbt(Settings settings, Rng rng) : settings_(std::move(settings)), rng_(rng) {}

  Result<void> set_space(const Space& space) override {
    for (const Param& param : space.params) {
      if (!param.condition && (param.name == kLoad || param.name == kSave)) {
        return fail("search_space: PBT needs the name " + param.name +
                    " for itself; give the parameter another one");
      }
    }
    space_ = space;
    epoch_ = 0;
    newest_ = -1;
    state_ = {};
    for (std::size_t i = 0; i < settings_.size; ++i) {
      const std::string folder = settings_.folder + "/" + std::to_string(i);
      state_.members.push_back(
          {.folder = folder, .load = folder + "/0", .point = feasible_sample(space_, rng_)});
      state_.queue.push_back(i);
    }
    return {};
  }

  // Ids that had to wait for the next epoch are served first, and of these the latest first.
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    std::vector<Answer> answers(ids.size(), NotYet{});
    std::vector<std::size_t> order(ids.size());
    for (std::size_t i = 0; i < ids.size(); ++i) order[i] = i;
    const auto waited = std::ranges::partition(order, [&](auto i) { return ids[i] <= newest_; });
    std::ranges::sort(order.begin(), waited.begin(),
                      [&](auto a, auto b) { return ids[a] > ids[b]; });
    std::ranges::sort(waited.begin(), order.end(), [&](auto a, auto b) { return ids[a] < ids[b]; });
    for (const std::size_t i : order) {
      newest_ = std::max(newest_, ids[i]);
      if (state_.queue.empty()) continue;
      const std::size_t member = state_.queue.front();
      state_.queue.pop_front();
      state_.running[ids[i]] = member;
      if (state_.wanted) {
        state_.members[member].point = *std::exchange(state_.wanted, std::nullopt);
        state_.members[member].copies.clear();
      }
      answers[i] =
          Proposal{.point = state_.members[member].point, .reason = state_.members[member].copies};
    }
    return answers;
  }

  bool begin_with(const Point& point) override {
    state_.wanted = point;
    return true;
  }

  void withdraw(TrialId id) override {
    const auto found = state_.running.find(id);
    if (found == state_.running.end()) return;
    const std::size_t member = found->second;
    state_.running.erase(found);
    state_.members[member].point = feasible_sample(space_, rng_);
    state_.members[member].copies.clear();
    state_.queue.push_front(member);
  }

  void tell(std::span<const Outcome> outcomes) override {
    import(outcomes);
    for (const Outcome& outcome : outcomes) {
      const auto found = state_.running.find(outcome.trial);
      if (found == state_.running.end()) continue;
      if (outcome.usable()) state_.members[found->second].loss = outcome.loss;
      state_.finished.push_back(found->second);
      state_.running.erase(found);
      if (state_.finished.size() == state_.members.size()) next_epoch();
    }
  }

  json extra_parameters(TrialId id) const override {
    const auto found = state_.running.find(id);
    if (found == state_.running.end()) return nullptr;
    const Member& member = state_.members[found->second];
    return {{kLoad, member.load}, {kSave, save_folder(member)}};
  }

  Result<Point> point_from(const Space& space, const json& parameters) const override {
    if (!parameters.is_object()) return point_from_json(space, parameters);
    json own = parameters;
    own.erase(kLoad);
    own.erase(kSave);
    return point_from_json(space, own);
  }

  void skip_ahead() override { rng_ = rng_.fork("skip ahead"); }

  json save() const override {
    json members = json::array(), running = json::array();
    for (const Member& member : state_.members) {
      std::vector<double> loss;
      if (member.loss) loss.push_back(*member.loss);
      members.push_back({{"folder", member.folder},
                         {"load", member.load},
                         {"point", save_point(member.point)},
                         {"loss", save_numbers(loss)},
                         {"copies", member.copies}});
    }
    for (const auto& [id, member] : state_.running)
      running.push_back({{"id", id}, {"member", member}});
    json state = {
        {"rng", to_json(rng_)},
        {"epoch", epoch_},
        {"newest", newest_},
        {"members", std::move(members)},
        {"queue", save_numbers(std::vector<double>(state_.queue.begin(), state_.queue.end()))},
        {"running", std::move(running)},
        {"finished",
         save_numbers(std::vector<double>(state_.finished.begin(), state_.finished.end()))}};
    if (state_.wanted) state["wanted"] = save_point(*state_.wanted);
    return state;
  }

  Result<void> load(const json& saved) override {
    const Rng rng = TRY(rng_from_json(TRY(array_at(saved, "rng"))));
    const auto epoch = TRY(integer_at(saved, "epoch"));
    const auto newest = TRY(integer_at(saved, "newest"));
    State state;
    for (const json& one : TRY(array_at(saved, "members"))) {
      Member member{.folder = TRY(text_at(one, "folder")), .load = TRY(text_at(one, "load"))};
      if (one.contains("copies")) member.copies = TRY(text_at(one, "copies"));
      member.point = TRY(load_point(space_, TRY(value_at(one, "point"))));
      const auto loss = TRY(numbers_at(one, "loss"));
      if (loss.size() > 1) return fail("saved state: PBT knows one loss of a member");
      if (!loss.empty()) member.loss = loss[0];
      state.members.push_back(std::move(member));
    }
    // Each member stands in one place.
    std::set<double> placed;
    const auto place = [&](double member) {
      return is_index(member, static_cast<double>(state.members.size())) &&
             placed.insert(member).second;
    };
    bool possible = state.members.size() == settings_.size && epoch >= 0;
    for (const double member : TRY(numbers_at(saved, "queue"))) {
      possible = possible && place(member);
      if (possible) state.queue.push_back(static_cast<std::size_t>(member));
    }
    for (const double member : TRY(numbers_at(saved, "finished"))) {
      possible = possible && place(member);
      if (possible) state.finished.push_back(static_cast<std::size_t>(member));
    }
    for (const json& one : TRY(array_at(saved, "running"))) {
      const TrialId id = TRY(integer_at(one, "id"));
      const auto member = TRY(integer_at(one, "member"));
      possible = possible && place(static_cast<double>(member)) &&
                 state.running.emplace(id, static_cast<std::size_t>(member)).second;
    }
    if (!possible || placed.size() != state.members.size() ||
        state.finished.size() == state.members.size()) {
      return fail("saved state: not a population of PBT");
    }
    if (saved.contains("wanted")) state.wanted = TRY(load_point(space_, saved["wanted"]));
    rng_ = rng;
    epoch_ = epoch;
    newest_ = newest;
    state_ = std::move(state);
    return {};
  }

 private:
  // Members are numbers; each stands in the queue, is running, or has finished its epoch.
  struct State {
    std::vector<Member> members = {};
    std::deque<std::size_t> queue = {};  // in the order in which they start
    std::map<TrialId, std::size_t> running = {};
    std::vector<std::size_t> finished = {};  // in the order in which they ended
    std::optional<Point> wanted = {};        // the next member that starts takes it
  };

  std::string save_folder(const Member& member) const {
    return member.folder + "/" + std::to_string(epoch_);
  }

  void next_epoch() {
    std::vector<std::optional<double>> losses;
    for (const Member& member : state_.members) losses.push_back(member.loss);
    const auto starts =
        attune::next_epoch(state_.finished, losses, settings_.fraction,
                           [this](std::size_t donors) { return rng_.index(donors); });
    State next;
    for (const EpochStart& start : starts) {
      Member member = state_.members[start.member];
      member.copies.clear();
      if (start.donor) {
        const Member& donor = state_.members[*start.donor];
        member.load = save_folder(donor);
        const Explored explored = explore_as_nni(space_, donor.point, settings_.explore, rng_);
        member.point = explored.point;
        // The worst stands first.
        const auto place = std::ranges::find(starts, *start.donor, &EpochStart::member);
        member.copies = copies_text(space_,
                                    {.attribute = "epoch",
                                     .resource = static_cast<double>(epoch_),
                                     .result = result_text(settings_.objective, *donor.loss),
                                     .rank = static_cast<std::size_t>(starts.end() - place),
                                     .of = starts.size()},
                                    explored);
      } else if (start.begins_anew) {
        member.point = feasible_sample(space_, rng_);
      } else {
        member.load = save_folder(member);
      }
      member.loss.reset();
      next.queue.push_back(next.members.size());
      next.members.push_back(std::move(member));
    }
    ++epoch_;
    next.wanted = std::move(state_.wanted);
    state_ = std::move(next);
  }

  // Continues from the last epoch of which all members are imported.
  void import(std::span<const Outcome> outcomes) {
    if (!state_.running.empty()) return;
    std::map<std::int64_t, std::vector<Member>> epochs;
    for (const Outcome& outcome : outcomes) {
      if (outcome.end != End::imported || !outcome.extra.is_object()) continue;
      const auto save = outcome.extra.find(kSave);
      if (save == outcome.extra.end() || !save->is_string()) continue;
      const auto [folder, name] = split(save->get<std::string>());
      const bool is_number = name.find_first_not_of("0123456789") == std::string::npos;
      if (name.empty() || name.size() > 9 || !is_number) continue;
      std::vector<Member>& members = epochs[std::stoll(name)];
      std::erase_if(members, [&](const Member& member) { return member.folder == folder; });
      members.push_back(
          {.folder = folder, .load = *save, .point = outcome.point, .loss = outcome.loss});
    }
    for (auto& [epoch, members] : std::views::reverse(epochs)) {
      if (members.size() != settings_.size || epoch < epoch_) continue;
      epoch_ = epoch;
      state_ = {.members = std::move(members), .wanted = std::move(state_.wanted)};
      for (std::size_t i = 0; i < settings_.size; ++i) state_.finished.push_back(i);
      return next_epoch();
    }
  }

  const Settings settings_;
  Rng rng_;
  Space space_;
  std::int64_t epoch_ = 0;
  TrialId newest_ = -1;  // the highest id that was asked for
  State state_;
};

}  // namespace
}  // namespace pbt_tuner

extern const TunerEntry pbt_entry = {
    .name = "PBT",
    .aliases = {"PBTTuner"},
    .summary = "population based training in epochs, with checkpoint folders for the trials",
    .arguments =
        {{.name = "all_checkpoint_dir",
          .type = Argument::Type::text,
          .fallback = nullptr,
          .help = "folder that all trials see; null: \"checkpoint\" in a trial's working folder"},
         {.name = "population_size",
          .type = Argument::Type::integer,
          .fallback = 10,
          .help = "number of members, which train one epoch at a time",
          .low = 1,
          .high = 10000},
         {.name = "factor",
          .type = Argument::Type::number,
          .fallback = 0.2,
          .help = "length of a step, as a share of the range of a parameter",
          .low = 0,
          .high = 1},
         {.name = "resample_probability",
          .type = Argument::Type::number,
          .fallback = 0.25,
          .help = "of drawing a parameter again instead of making a step",
          .low = 0,
          .high = 1},
         {.name = "fraction",
          .type = Argument::Type::number,
          .fallback = 0.2,
          .help = "share of the members that become copies of the best after each epoch",
          .low = 0,
          .high = 1}},
    .maximizes = true,
    .make = [](const json& args, const Context& context,
               Rng rng) -> Result<std::unique_ptr<Tuner>> {
      const json& folder = args["all_checkpoint_dir"];
      pbt_tuner::Settings settings{
          .folder = folder.is_string() ? folder.get<std::string>() : "checkpoint",
          .size = args["population_size"].get<std::size_t>(),
          .fraction = args["fraction"].get<double>(),
          .explore = {.factor = args["factor"].get<double>(),
                      .resample_probability = args["resample_probability"].get<double>()},
          .objective = context.objectives.at(0)};
      while (settings.folder.size() > 1 && settings.folder.back() == '/')
        settings.folder.pop_back();
      return std::make_unique<pbt_tuner::Pbt>(std::move(settings), rng);
    }};

}  // namespace attune

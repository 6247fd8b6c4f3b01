#pragma once
// What the guards of tuners and of assessors share: a plug-in that can be started anew at any time,
// because everything is kept that it must be told again.
#include <memory>
#include <string>
#include <utility>

#include "base/saved_numbers.h"
#include "plugins/guard.h"

namespace attune {

// A plug-in that can save is asked for its state after each so many events, if nobody else has
// asked: without a journal nobody does, and the events would fill the memory. One that fails to
// save is started anew and told all of them again, so it is not asked at each event from then on.
inline constexpr std::size_t kMostEvents = 20'000;

// `Kind`: PluginTuner or PluginAssessor. `Events`: what it was told since its state was saved; made
// by default, there are none. save() is const, and changes what must be told again. So these
// functions are const, too.
template <class Kind, class Events>
class Restartable {
 public:
  virtual ~Restartable() = default;

 protected:
  // `owner`: as that of Guard. `saves`: the plug-in can save.
  Restartable(std::unique_ptr<Kind> plugin, std::string owner, bool saves, Log log)
      : plugin_(std::move(plugin)), guard_(std::move(owner), std::move(log)), saves_(saves) {}

  // Brings an instance that knows nothing to where the former one was: loads state_, then tells it
  // events_. `fresh`: it does not even know the search space.
  virtual Result<void> begin_again(bool fresh) const = 0;

  Result<void> recover() const {
    TRY(plugin_->restart());
    return begin_again(/*fresh=*/true);
  }

  template <class Call>
  typename std::invoke_result_t<Call>::value_type twice(const char* name, Call&& call) const {
    return guard_.try_twice(name, call, [this] { return recover(); });
  }

  // Saves the state of a plug-in that can save. If that fails, the former state and the events
  // since then stay.
  void save_plugin() const {
    if (!saves_) return;
    auto state = plugin_->save();
    if (state && !state->is_null()) {
      state_ = *std::move(state);
      events_ = Events();
      return;
    }
    const std::string why = state ? "null is no state" : state.error().message;
    guard_.warn("save", why + "; it is started anew");
    if (const auto ready = recover(); !ready) guard_.give_up("save", ready.error().message);
  }

  // Takes the plug-in's part of a state that a guard has saved: the members "plugin", which is null
  // if the plug-in has never saved, and "saved", which says so, too: thus a lost member is noticed.
  // After an error all is as it was. `repeats`: the plug-in has accepted this state before, so that
  // an error of the plug-in is an AlgorithmFailure.
  Result<void> load_plugin(const json& state, Events events, bool repeats) {
    json plugin = TRY(value_at(state, "plugin"));
    const bool saved = TRY(boolean_at(state, "saved"));
    if (saved == plugin.is_null()) return fail("saved state: \"plugin\" and \"saved\" contradict");
    if (saved && !saves_) return fail("saved state: of another plug-in");
    std::swap(state_, plugin);
    std::swap(events_, events);
    auto ready = begin_again(/*fresh=*/false);
    if (!ready) ready = recover();
    if (ready) return {};
    if (repeats) guard_.give_up("load", ready.error().message);
    std::swap(state_, plugin);
    std::swap(events_, events);
    if (const auto back = recover(); !back) guard_.give_up("load", back.error().message);
    return std::unexpected(guard_.error("load", ready.error().message));
  }

  const std::unique_ptr<Kind> plugin_;
  const Guard guard_;
  const bool saves_;
  mutable json state_;     // the last one that it saved; null: none
  mutable Events events_;  // since then; of one that cannot save: all
};

}  // namespace attune

#include <fmt/format.h>

#include "plugins/guarded_assessor.h"
#include "plugins/guarded_tuner.h"
#include "plugins/open/open.h"

namespace attune {
namespace {

template <class Entry>
bool is_taken(const Catalog<Entry>& catalog, const std::string& name) {
  return catalog.find(name, "").has_value();
}

// A number that any language holds, also as a double.
std::uint64_t draw_seed(Rng& rng) { return rng() >> 11; }

// What the entries of tuners and assessors share. `make_raw(setup)` makes what a guard takes.
template <class Entry, class MakeRaw>
Entry entry_of(const std::shared_ptr<Plugin>& plugin, const PluginDescription& which,
               const Log& log, MakeRaw make_raw) {
  Entry entry;
  entry.name = which.name;
  entry.summary = which.summary;
  entry.arguments = which.arguments;
  entry.any_arguments = which.any_arguments;
  entry.maximizes = which.maximizes;
  entry.saves = which.saves;
  entry.make = [plugin, &which, log, make_raw](const json& args, const Context& context, Rng rng) ->
      typename decltype(entry.make)::result_type {
        auto made = make_raw(PluginSetup{args, context, draw_seed(rng)});
        if (!made) {
          return fail_at("plug-in " + plugin->name(), which.name + ": " + made.error().message);
        }
        return make_guarded(*std::move(made), which, plugin->name(), log);
      };
  return entry;
}

TunerEntry tuner_entry(const std::shared_ptr<Plugin>& plugin, const PluginDescription& which,
                       const Log& log) {
  auto entry = entry_of<TunerEntry>(plugin, which, log, [plugin, &which](PluginSetup setup) {
    return plugin->make_tuner(which, std::move(setup));
  });
  entry.wants_reports = which.wants_reports;
  return entry;
}

AssessorEntry assessor_entry(const std::shared_ptr<Plugin>& plugin, const PluginDescription& which,
                             const Log& log) {
  return entry_of<AssessorEntry>(plugin, which, log, [plugin, &which](PluginSetup setup) {
    return plugin->make_assessor(which, std::move(setup));
  });
}

}  // namespace

// The entries refer to descriptions inside of the plug-in, which they keep alive.
Result<void> add_plugin(std::shared_ptr<Plugin> plugin, TunerRegistry& tuners,
                        AssessorRegistry& assessors, const Log& log) {
  const std::string place = "plug-in " + plugin->name();
  if (plugin->algorithms().empty()) return fail_at(place, "it has no tuner and no assessor");
  for (const PluginDescription& which : plugin->algorithms()) {
    const bool is_tuner = which.kind == PluginDescription::Kind::tuner;
    if (is_tuner ? is_taken(tuners, which.name) : is_taken(assessors, which.name)) {
      return fail_at(place, fmt::format("there is {} {} already",
                                        is_tuner ? "a tuner" : "an assessor", which.name));
    }
    if (is_tuner) {
      tuners.add(tuner_entry(plugin, which, log));
    } else {
      assessors.add(assessor_entry(plugin, which, log));
    }
  }
  return {};
}

}  // namespace attune

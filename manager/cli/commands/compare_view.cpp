// The command attune compare.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/objective_json.h"
#include "manager/cli/commands/stored_json.h"
#include "manager/cli/commands/views.h"
#include "manager/cli/progress.h"
#include "manager/control/json_format.h"
#include "manager/store/store_reader.h"
#include "os/standard_output.h"

namespace attune {
namespace {

struct Compared {
  StoredExperiment experiment;
  Tally tally;
  std::optional<BestSoFar> best;
  std::map<std::string, json> settings;  // of its file, by paths such as "tuner.classArgs.seed"
  std::optional<int> rank;               // 1: the best score
};

void flatten_settings(const json& value, const std::string& path,
                      std::map<std::string, json>& settings) {
  if (!value.is_object() || value.empty()) {
    settings[path] = value;
    return;
  }
  for (const auto& [key, each] : value.items())
    flatten_settings(each, path.empty() ? key : path + "." + key, settings);
}

Result<Compared> read_compared(StoreReader& reader, const std::string& name) {
  Compared compared{TRY(reader.find(name)), {}, {}, {}, {}};
  compared.tally = TRY(reader.tally(compared.experiment));
  compared.best = TRY(reader.best_so_far(compared.experiment));
  flatten_settings(compared.experiment.file, "", compared.settings);
  return compared;
}

std::optional<double> score_of(const Compared& each) {
  if (!each.best || each.best->violation > 0) return std::nullopt;
  return each.best->trial.score(each.experiment.objective().metric);
}

// Why the experiments cannot be ranked; empty: their scores can be compared.
std::string unrankable(const std::vector<Compared>& all) {
  const std::vector<Objective>& first = all.front().experiment.objectives;
  const json sought = to_json(first);
  for (const Compared& each : all) {
    if (to_json(each.experiment.objectives) != sought)
      return fmt::format("not ranked: {} and {} have different objectives",
                         all.front().experiment.id, each.experiment.id);
  }
  return several(first) ? "not ranked: of several objectives no single score is the best" : "";
}

void give_ranks(std::vector<Compared>& all) {
  const bool maximize = all.front().experiment.objective().maximize;
  for (Compared& each : all) {
    const auto score = score_of(each);
    if (!score) continue;
    const auto better = std::ranges::count_if(all, [&](const Compared& other) {
      const auto than = score_of(other);
      return than && (maximize ? *than > *score : *than < *score);
    });
    each.rank = static_cast<int>(better) + 1;
  }
}

// The settings whose values differ between the experiments.
std::vector<std::string> differing_settings(const std::vector<Compared>& all) {
  std::set<std::string> keys;
  for (const Compared& each : all)
    for (const auto& [key, value] : each.settings) keys.insert(key);
  std::vector<std::string> differing;
  for (const std::string& key : keys) {
    const auto first = all.front().settings.find(key);
    const auto same = [&](const Compared& each) {
      const auto found = each.settings.find(key);
      return first != all.front().settings.end() && found != each.settings.end() &&
             found->second == first->second;
    };
    if (!std::ranges::all_of(all, same)) differing.push_back(key);
  }
  return differing;
}

// Seconds from the start of the experiment to the end of its best trial.
std::optional<double> found_after(const Compared& each) {
  if (!each.best || each.best->trial.end_time == 0) return std::nullopt;
  return std::max(each.best->trial.end_time - each.experiment.started, 0.0);
}

json compared_json(const Compared& each, const std::vector<std::string>& differing) {
  json object = experiment_json(each.experiment, each.tally, each.best);
  object["rank"] = each.rank ? json(*each.rank) : json();
  if (each.best) {
    const auto after = found_after(each);
    object["best"]["sequence"] = each.best->trial.sequence;
    object["best"]["seconds"] = after ? json(*after) : json();
  }
  json& settings = object["differing_settings"] = json::object();
  for (const std::string& key : differing) {
    const auto found = each.settings.find(key);
    if (found != each.settings.end()) settings[key] = found->second;
  }
  return with_format(object);
}

std::string setting_text(const Compared& each, const std::string& key) {
  const auto found = each.settings.find(key);
  if (found == each.settings.end()) return "-";
  return found->second.is_string() ? found->second.get<std::string>() : dump_json(found->second);
}

std::string best_score_text(const Compared& each) {
  const auto score =
      each.best ? each.best->trial.score(each.experiment.objective().metric) : std::nullopt;
  if (!score) return "-";
  return number_text(*score) + (each.best->violation > 0 ? " (limits not kept)" : "");
}

std::string compared_text(const std::vector<Compared>& all,
                          const std::vector<std::string>& differing, std::size_t width) {
  std::vector<std::string> headings = {""};
  for (const Compared& each : all) headings.push_back(each.experiment.id);
  TextTable table(std::move(headings));
  const auto add = [&](const std::string& what, const auto& cell) {
    std::vector<std::string> cells = {what};
    for (const Compared& each : all) cells.push_back(cell(each));
    table.add(std::move(cells));
  };
  add("name", [](const Compared& each) { return each.experiment.name; });
  add("status", [](const Compared& each) { return std::string(to_text(each.experiment.status)); });
  add("trials", [](const Compared& each) { return std::to_string(each.tally.added()); });
  add("failed", [](const Compared& each) { return std::to_string(each.tally.failed); });
  add("objective", [](const Compared& each) {
    const Objective& first = each.experiment.objective();
    return fmt::format("{} {}", first.maximize ? "maximize" : "minimize", first.metric);
  });
  add("best score", best_score_text);
  add("rank", [](const Compared& each) { return each.rank ? std::to_string(*each.rank) : "-"; });
  add("found by trial",
      [](const Compared& each) { return each.best ? each.best->trial.job_id : "-"; });
  add("found after", [](const Compared& each) {
    const auto after = found_after(each);
    return after ? duration_text(*after) : "-";
  });
  for (const std::string& key : differing)
    add(key, [&](const Compared& each) { return setting_text(each, key); });
  std::set<std::string> parameters;
  for (const Compared& each : all)
    if (each.best)
      for (const auto& [name, value] : each.best->trial.proposed.parameters.items())
        parameters.insert(name);
  for (const std::string& name : parameters)
    add("best " + name, [&](const Compared& each) {
      if (!each.best || !each.best->trial.proposed.parameters.contains(name))
        return std::string("-");
      return dump_json(each.best->trial.proposed.parameters[name]);
    });
  return table.text(width);
}

}  // namespace

Result<int> view(const CompareOptions& options, const Console& console) {
  StoreReader reader = TRY(StoreReader::open(options.directory));
  std::vector<Compared> all;
  for (const std::string& name : options.experiments)
    all.push_back(TRY(read_compared(reader, name)));
  const std::string why = unrankable(all);
  if (why.empty()) give_ranks(all);
  if (!why.empty()) put_text(console.err, fmt::format("attune: {}\n", why));
  const std::vector<std::string> differing = differing_settings(all);
  if (!options.json) {
    print_text(console, compared_text(all, differing, console.width));
    return kExitOk;
  }
  json array = json::array();
  for (const Compared& each : all) array.push_back(compared_json(each, differing));
  print_json(console, array);
  return kExitOk;
}

}  // namespace attune

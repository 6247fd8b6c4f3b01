#include "manager/interchange/optuna_space.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "manager/interchange/flat_names.h"

namespace attune {
namespace {

auto has_parameter(const std::string& name) {
  return [&name](const OptunaTrial* trial) { return trial->find(name) != nullptr; };
}

}  // namespace

Result<OptunaSpace> OptunaSpace::of(const Trials& trials, Losses& losses) {
  OptunaSpace space;
  std::vector<std::string> names;  // in the order in which they first occur
  for (const OptunaTrial* trial : trials) {
    for (const auto& [name, number] : trial->numbers) {
      if (!space.domains_.contains(name)) names.push_back(name);
      TRY(space.domains_[name].add(name, trial->distributions.at(name)));
    }
  }
  space.top_ = space.nodes(names, trials, "", losses);
  return space;
}

// Whether the choice of the categorical parameter `parent` tells if a trial has `name`; where it
// does not, at most `depth - 1` further ones tell.
bool OptunaSpace::explains(const std::string& parent, const std::string& name,
                           const std::vector<std::string>& names, const Trials& trials,
                           int depth) const {
  std::map<double, Trials> by_choice;
  for (const OptunaTrial* trial : trials) by_choice[*trial->find(parent)].push_back(trial);
  return std::ranges::all_of(by_choice, [&](const auto& entry) {
    const Trials& inside = entry.second;
    const auto with = std::ranges::count_if(inside, has_parameter(name));
    if (with == 0 || with == std::ssize(inside)) return true;
    return depth > 1 && std::ranges::any_of(names, [&](const std::string& next) {
             return next != parent && next != name && domains_.at(next).is_categorical() &&
                    std::ranges::all_of(inside, has_parameter(next)) &&
                    explains(next, name, names, inside, depth - 1);
           });
  });
}

// The categorical parameter of all these trials on which `name` depends. Few trials have many
// explanations: the one with the fewest conditions counts, and of those the one that was suggested
// last before `name`. Empty: there is none.
std::string OptunaSpace::parent_of(const std::string& name, const std::vector<std::string>& names,
                                   const Trials& trials) const {
  constexpr int kDeepest = 3;
  const auto own = std::ranges::find(names, name);
  std::vector<std::string> candidates(std::make_reverse_iterator(own), names.rend());
  candidates.insert(candidates.end(), own + 1, names.end());
  std::erase_if(candidates, [&](const std::string& each) {
    return !domains_.at(each).is_categorical() || !std::ranges::all_of(trials, has_parameter(each));
  });
  for (int depth = 1; depth <= kDeepest; ++depth) {
    for (const std::string& candidate : candidates)
      if (explains(candidate, name, names, trials, depth)) return candidate;
  }
  return "";
}

// `trials`: those that reach this object. `prefix`: with which attune begins the names of
// parameters in this option when it exports them.
std::vector<OptunaSpace::Node> OptunaSpace::nodes(const std::vector<std::string>& names,
                                                  const Trials& trials, const std::string& prefix,
                                                  Losses& losses) const {
  std::map<std::string, std::vector<std::string>> below;
  std::vector<Node> made;
  for (const std::string& name : names) {
    const bool conditional = !std::ranges::all_of(trials, has_parameter(name));
    const std::string parent = conditional ? parent_of(name, names, trials) : "";
    if (!parent.empty()) {
      below[parent].push_back(name);
      continue;
    }
    if (conditional)
      losses.add(fmt::format(
          "{}: some trials have no such parameter, and no other parameter tells which", name));
    made.push_back({name, name.starts_with(prefix) ? name.substr(prefix.size()) : name, {}});
  }
  for (Node& node : made) {
    const std::vector<json>& choices = domains_.at(node.name).choices();
    for (std::size_t i = 0; below.contains(node.name) && i < choices.size(); ++i) {
      Trials inside;
      for (const OptunaTrial* trial : trials)
        if (domains_.at(node.name).index(*trial->find(node.name)) == i) inside.push_back(trial);
      std::vector<std::string> here;
      for (const std::string& name : below[node.name])
        if (std::ranges::any_of(inside, has_parameter(name))) here.push_back(name);
      node.options[i] =
          nodes(here, inside, node.name + "." + candidate_text(choices[i]) + ".", losses);
    }
  }
  return made;
}

json OptunaSpace::declared(const std::vector<Node>& nodes, Losses& losses) const {
  json object = json::object();
  for (const Node& node : nodes) {
    const OptunaDomain& domain = domains_.at(node.name);
    json declaration = domain.declaration(node.name, losses);
    for (const auto& [index, inside] : node.options) {
      json option = {{"_name", domain.choices()[index]}};
      option.update(declared(inside, losses));
      declaration["_value"][index] = std::move(option);
    }
    object[node.key] = std::move(declaration);
  }
  return object;
}

json OptunaSpace::written(const std::vector<Node>& nodes, const OptunaTrial& trial) const {
  json object = json::object();
  for (const Node& node : nodes) {
    const double* number = trial.find(node.name);
    if (number == nullptr) continue;
    json value = domains_.at(node.name).value(*number);
    if (!node.options.empty()) {
      const auto inside = node.options.find(domains_.at(node.name).index(*number));
      value = {{"_name", std::move(value)}};
      if (inside != node.options.end()) value.update(written(inside->second, trial));
    }
    object[node.key] = std::move(value);
  }
  return object;
}

json OptunaSpace::declaration(Losses& losses) const { return declared(top_, losses); }

json OptunaSpace::parameters(const OptunaTrial& trial) const { return written(top_, trial); }

}  // namespace attune

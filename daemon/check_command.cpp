#include "daemon/check_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <string_view>
#include <utility>

#include "dispatcher/tune_worker.h"

namespace attune {
namespace {

std::string read_all(std::FILE* in) {
  std::string text;
  std::array<char, 1 << 16> piece;
  while (const std::size_t size = std::fread(piece.data(), 1, piece.size(), in))
    text.append(piece.data(), size);
  return text;
}

using Part = Refusal::Part;

std::string_view name_of(Part part) {
  switch (part) {
    case Part::experiment:
      return "experiment";
    case Part::tuner:
      return "tuner";
    case Part::assessor:
      return "assessor";
    case Part::search_space:
      return "searchSpace";
  }
  return "";
}

// What the registry says of a name and its arguments. `others`: that of the other kind, because
// tuners and assessors are mixed up easily.
template <class Entry, class Other>
std::vector<Refusal> check_choice(Part part, const Catalog<Entry>& catalog,
                                  const Catalog<Other>& others, const AlgorithmChoice& choice) {
  const auto entry = catalog.find(choice.name, name_of(part));
  if (!entry) {
    const std::string_view other = name_of(part == Part::tuner ? Part::assessor : Part::tuner);
    const bool misplaced = others.find(choice.name, other).has_value();
    return {{part,
             {"name"},
             misplaced ? fmt::format("{} belongs under the key {}", choice.name, other)
                       : entry.error().message}};
  }
  std::vector<Refusal> refusals;
  for (ArgumentFlaw& flaw : flaws_of(**entry, choice.arguments)) {
    flaw.path.insert(flaw.path.begin(), "classArgs");
    refusals.push_back({part, std::move(flaw.path), std::move(flaw.message)});
  }
  return refusals;
}

// Uses the same worker as the daemon, so that both accept the same spaces.
Result<void> check_space(const Configuration& configuration, MadeTuner made,
                         const json& search_space) {
  Session session(std::move(made.tuner), Objective{"default", made.maximize}, Log());
  TuneWorker worker(std::move(session), Log(), configuration.constraints);
  for (const WorkerMessage& message : worker.handle(SetSpace{search_space, true})) {
    if (const auto* failed = std::get_if<Failed>(&message)) return fail(failed->message);
  }
  return {};
}

}  // namespace

std::vector<Refusal> check_experiment(const Configuration& configuration, const Result<void>& read,
                                      const Algorithms& algorithms, const json& search_space) {
  if (!read) return {{Part::experiment, {}, read.error().message}};
  const AlgorithmChoice& tuner = configuration.tuner;
  std::vector<Refusal> refusals =
      check_choice(Part::tuner, algorithms.tuners, algorithms.assessors, tuner);
  auto made = make_tuner(algorithms.tuners, tuner.name, tuner.arguments, configuration.context,
                         configuration.fallback_seed);
  const bool no_name = !refusals.empty() && refusals.front().path.front() == "name";
  // make_tuner() also knows the tuners of NNI that are not built in.
  const bool misplaced = algorithms.assessors.find(tuner.name, name_of(Part::assessor)).has_value();
  if (!made && no_name && !misplaced) refusals.front().message = made.error().message;
  if (!made && refusals.empty())
    refusals.push_back({Part::tuner, {"classArgs"}, made.error().message});
  if (const auto& assessor = configuration.assessor) {
    auto wrong = check_choice(Part::assessor, algorithms.assessors, algorithms.tuners, *assessor);
    if (wrong.empty()) {
      const auto judge = make_assessor(algorithms.assessors, assessor->name, assessor->arguments,
                                       configuration.context, made ? made->seed : 0);
      if (!judge) wrong.push_back({Part::assessor, {"classArgs"}, judge.error().message});
    }
    std::ranges::move(wrong, std::back_inserter(refusals));
  }
  if (!made) return refusals;
  if (const auto fits = check_space(configuration, *std::move(made), search_space); !fits)
    refusals.push_back({Part::search_space, {}, fits.error().message});
  return refusals;
}

namespace {

Result<MadeTuner> tuner_of(const Configuration& configuration, const Algorithms& algorithms) {
  return make_tuner(algorithms.tuners, configuration.tuner.name, configuration.tuner.arguments,
                    configuration.context, configuration.fallback_seed);
}

}  // namespace

int run_check_command(const Configuration& configuration, const Result<void>& read,
                      const Algorithms& algorithms, std::FILE* in, std::FILE* out) {
  const auto space = parse_json(read_all(in));
  std::vector<Refusal> refusals;
  if (space) {
    refusals = check_experiment(configuration, read, algorithms, *space);
  } else {
    refusals.push_back({Part::search_space, {}, space.error().message});
  }
  const auto made = tuner_of(configuration, algorithms);
  json said = {{"format", 1},
               {"fine", refusals.empty()},
               {"judges_reports", made && made->wants_reports},
               {"learns_from_earlier", made && made->tuner->learns_from_earlier()},
               {"refusals", json::array()}};
  for (const Refusal& refusal : refusals)
    said["refusals"].push_back({{"part", std::string(name_of(refusal.part))},
                                {"path", refusal.path},
                                {"message", refusal.message}});
  std::fputs((dump_json(said) + "\n").c_str(), out);
  return refusals.empty() ? kExitOk : kExitConfiguration;
}

}  // namespace attune

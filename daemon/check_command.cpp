#include "daemon/check_command.h"

#include <array>
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

std::string key_of(const char* algorithm, bool known) {
  return std::string(algorithm) + (known ? ".classArgs" : ".name");
}

// By the very worker that will have it.
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

std::optional<Refusal> check_experiment(const Configuration& configuration,
                                        const Result<void>& read, const Algorithms& algorithms,
                                        const json& search_space) {
  if (!read) return Refusal{"", read.error().message};
  const AlgorithmChoice& tuner = configuration.tuner;
  auto made = make_tuner(algorithms.tuners, tuner.name, tuner.arguments, configuration.context,
                         configuration.fallback_seed);
  if (!made) {
    const bool known = algorithms.tuners.find(tuner.name, "tuner").has_value();
    return Refusal{key_of("tuner", known), made.error().message};
  }
  if (const auto& assessor = configuration.assessor; assessor && !made->wants_reports) {
    const auto judge = make_assessor(algorithms.assessors, assessor->name, assessor->arguments,
                                     configuration.context, made->seed);
    if (!judge) {
      const bool known = algorithms.assessors.find(assessor->name, "assessor").has_value();
      return Refusal{key_of("assessor", known), judge.error().message};
    }
  }
  if (const auto fits = check_space(configuration, *std::move(made), search_space); !fits)
    return Refusal{"searchSpace", fits.error().message};
  return std::nullopt;
}

int run_check_command(const Configuration& configuration, const Result<void>& read,
                      const Algorithms& algorithms, std::FILE* in, std::FILE* out) {
  const auto space = parse_json(read_all(in));
  std::optional<Refusal> refusal;
  if (space) {
    refusal = check_experiment(configuration, read, algorithms, *space);
  } else {
    refusal = Refusal{"searchSpace", space.error().message};
  }
  json said = {{"fine", !refusal}};
  if (refusal) {
    said["about"] = refusal->about;
    said["error"] = refusal->message;
  }
  std::fputs((dump_json(said) + "\n").c_str(), out);
  return refusal ? kExitConfiguration : kExitOk;
}

}  // namespace attune

#include "study/replay.h"

#include <optional>

#include "study/header.h"

namespace attune {
namespace {

enum class Asks { repeat, adopt };

std::unexpected<Error> at_line(std::size_t line, const Error& error) {
  return fail("line " + std::to_string(line) + ": " + error.message);
}

std::vector<std::pair<json, json>> imported(const json& body) {
  std::vector<std::pair<json, json>> results;
  for (const json& one : body) results.emplace_back(one["parameters"], readable(one["value"]));
  return results;
}

// Applies the event. False: this version gave another answer than the one in the file.
Result<bool> apply(StudyCore& core, const Event& event, Asks asks) {
  using Kind = Event::Kind;
  switch (event.kind) {
    case Kind::ask: {
      if (asks == Asks::adopt) {
        TRY(core.adopt(event));
        return true;
      }
      const std::size_t before = core.events().size();
      TRY(core.ask(event.count, event.slot));
      return core.events().size() > before && core.events().back().body == event.body;
    }
    case Kind::report:
      return TRY(core.report(event.trial, readable(event.body), event.step, event.slot)).stop ==
             event.stop;
    case Kind::tell:
      TRY(core.tell(event.trial, readable(event.body), event.slot));
      return true;
    case Kind::fail:
      TRY(core.fail_trial(event.trial, event.body.get<std::string>(), event.slot));
      return true;
    case Kind::stop:
      TRY(core.stop(event.trial, event.slot));
      return true;
    case Kind::enqueue:
      TRY(core.enqueue(event.body));
      return true;
    case Kind::import:
      TRY(core.import(imported(event.body)));
      return true;
    case Kind::declare:
      TRY(core.declare(event.body));
      return true;
    case Kind::suggest:
      TRY(core.repeat_suggestion(event));
      return true;
  }
  return true;
}

struct Lines {
  std::vector<std::string_view> whole;
  std::size_t length = 0;
};

Lines split(std::string_view bytes) {
  Lines lines;
  for (std::size_t end; (end = bytes.find('\n', lines.length)) != std::string_view::npos;) {
    lines.whole.push_back(bytes.substr(lines.length, end - lines.length));
    lines.length = end + 1;
  }
  return lines;
}

}  // namespace

Result<Replayed> replay(std::string_view bytes, const TunerRegistry& tuners,
                        const AssessorRegistry& assessors) {
  const Lines lines = split(bytes);
  if (lines.whole.empty()) {
    return fail("line 1: there is no whole first line; the study had not begun");
  }
  Replayed replayed;
  replayed.length = lines.length;
  if (lines.length < bytes.size()) {
    replayed.warnings.push_back("line " + std::to_string(lines.whole.size() + 1) +
                                ": torn at the end of the file, dropped");
  }
  auto line = parse_json(lines.whole[0]);
  if (!line) return at_line(1, line.error());
  auto header = read_header(*line);
  if (!header) return at_line(1, header.error());
  replayed.header = *std::move(line);

  std::vector<Event> events;
  for (std::size_t i = 1; i < lines.whole.size(); ++i) {
    auto record = parse_json(lines.whole[i]);
    if (!record) return at_line(i + 1, record.error());
    auto event = event_from_json(*record);
    if (!event) return at_line(i + 1, event.error());
    events.push_back(*std::move(event));
  }

  // Returns the line of the first ask that was answered differently; nothing: there is none.
  const auto run = [&](Asks asks) -> Result<std::optional<std::size_t>> {
    auto core = StudyCore::make(header->space, header->options, tuners, assessors);
    if (!core) return at_line(1, core.error());
    replayed.core = *std::move(core);
    for (std::size_t i = 0; i < events.size(); ++i) {
      const std::size_t number = i + 2;
      auto same = apply(*replayed.core, events[i], asks);
      if (!same) return at_line(number, same.error());
      if (*same) continue;
      if (events[i].kind == Event::Kind::ask) return number;
      replayed.warnings.push_back("line " + std::to_string(number) +
                                  ": this version judges the report differently");
    }
    return std::nullopt;
  };
  // First all asks are repeated. If this version answers one differently, the study is made again
  // with the trials of the file.
  const std::vector<std::string> so_far = replayed.warnings;
  if (const auto differs = TRY(run(Asks::repeat))) {
    replayed.warnings = so_far;
    TRY(run(Asks::adopt));
    replayed.core->skip_ahead();
    replayed.warnings.push_back(
        "line " + std::to_string(*differs) +
        ": this version proposes other trials; the results count, but the study does not go on as "
        "it would have");
  }
  return replayed;
}

}  // namespace attune

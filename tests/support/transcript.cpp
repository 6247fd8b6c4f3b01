#include "tests/support/transcript.h"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "protocol/codec.h"
#include "space/parse.h"
#include "tests/support/transcript_text.h"

namespace attune {
namespace {

json must_parse(const std::string& text) {
  auto value = parse_json(text);
  if (!value) throw std::runtime_error(value.error().message);
  return *std::move(value);
}

std::string read_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

// The recorder parsed payloads that are JSON and kept the others (bad commands, and the text of an
// error) as they were.
std::string payload_of(const json& data, bool answer) {
  if (data.is_string() && data.get_ref<const std::string&>().empty()) return {};
  if (data.is_string() && !answer) {
    const auto text = data.get<std::string>();
    return parse_json(text) ? dump_json(data) : text;
  }
  return dump_json(data);
}

bool is_kill(const Frame& frame) { return frame.code == "KI"; }

std::vector<Frame> stream(const std::vector<Frame>& frames, bool kills) {
  std::vector<Frame> result;
  std::ranges::copy_if(frames, std::back_inserter(result),
                       [kills](const Frame& frame) { return is_kill(frame) == kills; });
  return result;
}

std::string text(const std::vector<Frame>& frames) { return "[" + outlines(frames) + "]"; }

std::vector<std::string> keys(const json& object) {
  std::vector<std::string> result;
  if (object.is_object()) {
    for (const auto& [key, value] : object.items()) result.push_back(key);
  }
  return result;
}

// The space that parameters must lie in. Recordings with several are compared by outline only, and
// Batch hands out candidates that are not points of a space.
std::optional<Space> only_space(const Transcript& transcript) {
  std::optional<Space> space;
  const json& tuner = transcript.exp_params.value("tuner", json::object());
  if (tuner.value("name", "") == "BatchTuner") return std::nullopt;
  for (const Frame& command : transcript.commands) {
    if (command.code != "IN" && command.code != "SS") continue;
    if (space) return std::nullopt;
    auto parsed = parse_space(must_parse(command.payload));
    if (parsed) space = *std::move(parsed);
  }
  return space;
}

std::string compare_trials(const Transcript& transcript, const std::vector<Frame>& want,
                           const std::vector<Frame>& got) {
  const auto space = only_space(transcript);
  for (std::size_t i = 0; i < want.size(); ++i) {
    if (want[i].code != "TR") continue;
    const json expected = must_parse(want[i].payload);
    json trial = must_parse(got[i].payload);
    // NNI's own tuners say it, its advisors do not; the managers do without.
    if (!expected.contains("parameter_index")) trial.erase("parameter_index");
    if (keys(expected) != keys(trial)) return "other keys in " + got[i].payload;
    json parameters = trial["parameters"];
    if (parameters.is_object() && parameters.contains("TRIAL_BUDGET")) {
      if (parameters["TRIAL_BUDGET"] != expected["parameters"]["TRIAL_BUDGET"]) {
        return "another budget in " + got[i].payload;
      }
      parameters.erase("TRIAL_BUDGET");
    }
    if (space && parameters.is_object()) {
      const auto point = point_from_json(*space, parameters);
      if (!point) return point.error().message + " in " + got[i].payload;
      if (to_json(*space, *point) != parameters) return "not in output form: " + got[i].payload;
    }
  }
  return {};
}

std::vector<std::string> points(const std::vector<Frame>& frames) {
  std::vector<std::string> result;
  for (const Frame& frame : frames) {
    if (frame.code == "TR") result.push_back(dump_json(must_parse(frame.payload)["parameters"]));
  }
  std::ranges::sort(result);
  return result;
}

void replace_all(std::string& text, const std::string& old, const std::string& fresh) {
  for (auto at = text.find(old); at != text.npos; at = text.find(old, at + fresh.size())) {
    text.replace(at, old.size(), fresh);
  }
}

// NNI's Hyperband has texts as parameter ids. They become what ours are: numbers in the order of
// the trials.
void number_ids(Transcript& transcript) {
  int next = 0;
  for (const Frame& answer : std::vector(transcript.answers)) {
    if (answer.code != "TR") continue;
    const std::string number = std::to_string(next++);
    const json id = must_parse(answer.payload)["parameter_id"];
    if (!id.is_string()) continue;
    const std::string name = id.get<std::string>();
    for (auto* frames : {&transcript.commands, &transcript.answers}) {
      for (Frame& frame : *frames) {
        replace_all(frame.payload, "\"" + name + "\"", number);
        replace_all(frame.payload, "\\\"" + name + "\\\"", number);  // in a text that is JSON
      }
    }
  }
}

}  // namespace

std::vector<Expectation> load_manifest() {
  std::vector<Expectation> result;
  const json manifest = must_parse(read_file(ATTUNE_TEST_DATA "/../transcripts/manifest.json"));
  for (const auto& [name, entry] : manifest.items()) {
    result.push_back({name, entry.at("compare"), entry.value("reason", ""), entry.value("exit", 0),
                      entry.value("answers", std::vector<std::string>())});
  }
  return result;
}

Transcript load_transcript(const std::string& name) {
  std::ifstream file(ATTUNE_TEST_DATA "/transcripts/" + name + ".jsonl");
  if (!file) throw std::runtime_error("no recording " + name);
  Transcript transcript;
  for (std::string line; std::getline(file, line);) {
    const json record = must_parse(line);
    const auto dir = record.at("dir").get<std::string>();
    if (dir == "meta") {
      const auto event = record.at("event").get<std::string>();
      if (event == "spawn") {
        transcript.exp_params = record.at("exp_params");
        transcript.environment = record.at("env");
        transcript.channel = record.value("channel", "pipe");
      } else if (event.starts_with("sent raw: ")) {
        transcript.raw = event.substr(10, event.find(" then EOF") - 10);
      } else if (event.starts_with("close fd3")) {
        transcript.closed = true;
      }
      continue;
    }
    Frame frame{record.at("code"), payload_of(record.at("data"), dir == "in")};
    if (dir == "in") {
      transcript.answers.push_back(std::move(frame));
    } else if (frame.code != "TE") {
      transcript.commands.push_back(std::move(frame));
    }
  }
  number_ids(transcript);
  return transcript;
}

std::string mismatch(const Expectation& expectation, const Transcript& transcript,
                     const std::vector<Frame>& got) {
  if (expectation.compare == "own") {
    std::vector<std::string> lines;
    for (const Frame& frame : got) lines.push_back(outline(frame));
    return lines == expectation.answers ? "" : "answered " + text(got);
  }
  if (expectation.compare == "prefix") {
    const bool long_enough = got.size() >= transcript.answers.size();
    for (std::size_t i = 0; long_enough && i < transcript.answers.size(); ++i) {
      if (outline(got[i]) != outline(transcript.answers[i])) return "answered " + text(got);
    }
    return long_enough ? "" : "answered only " + text(got);
  }
  const auto want_kills = stream(transcript.answers, true);
  const auto want = stream(transcript.answers, false);
  if (text(stream(got, true)) != text(want_kills)) {
    return "kills " + text(stream(got, true)) + ", recorded " + text(want_kills);
  }
  const auto mine = stream(got, false);
  if (text(mine) != text(want)) return "answered " + text(mine) + ", recorded " + text(want);
  if (auto wrong = compare_trials(transcript, want, mine); !wrong.empty()) return wrong;
  if (expectation.compare == "values") {
    for (std::size_t i = 0; i < want.size(); ++i) {
      if (want[i].payload.empty() && mine[i].payload.empty()) continue;
      if (must_parse(want[i].payload) != must_parse(mine[i].payload)) {
        return "answered " + mine[i].payload + ", recorded " + want[i].payload;
      }
    }
  }
  if (expectation.compare == "points" && points(mine) != points(want)) return "other points";
  return {};
}

}  // namespace attune

#include "plugins/notes.h"

#include <fmt/format.h>

#include <iterator>
#include <string_view>

#include "base/saved_numbers.h"

namespace attune {
namespace {

// The shortest text that reads back as the same double; with a point or an exponent, because -0
// would come back as the integer 0.
void add_number(double x, std::string& text) {
  const std::size_t start = text.size();
  fmt::format_to(std::back_inserter(text), "{}", x);
  if (text.find_first_of(".en", start) == std::string::npos) text += ".0";
}

void add_point(const Point& point, std::string& text) {
  text += '[';
  for (std::size_t i = 0; i < point.values.size(); ++i) {
    if (i > 0) text += ',';
    if (point.active(i)) {
      add_number(point.values[i], text);
    } else {
      text += "null";
    }
  }
  text += ']';
}

void add_proposal(const Proposal& proposal, std::string& text) {
  const bool plain = !proposal.budget && !proposal.resume && !proposal.checkpoint_from &&
                     proposal.reason.empty() && proposal.point.parameters.is_null();
  if (plain) return add_point(proposal.point, text);
  if (proposal.point.parameters.is_null()) {
    text += "{\"p\":";
    add_point(proposal.point, text);
  } else {
    text += "{\"j\":" + dump_json(proposal.point.parameters);
  }
  if (proposal.budget) {
    text += ",\"b\":";
    add_number(*proposal.budget, text);
  }
  auto out = std::back_inserter(text);
  if (proposal.resume) fmt::format_to(out, ",\"r\":{}", *proposal.resume);
  if (proposal.checkpoint_from) fmt::format_to(out, ",\"c\":{}", *proposal.checkpoint_from);
  if (!proposal.reason.empty()) fmt::format_to(out, ",\"t\":{}", dump_json(proposal.reason));
  text += '}';
}

Result<Point> point_of(const json& values) {
  if (!values.is_array()) return fail("a note without a point");
  Point point;
  for (const json& value : values) {
    if (!value.is_null() && !value.is_number()) return fail("a note with an odd value");
    point.values.push_back(value.is_null() ? Point::kInactive : value.get<double>());
  }
  return point;
}

Result<Answer> answer_of(const json& note) {
  if (note == "n") return NotYet{};
  if (note == "e") return Exhausted{};
  Proposal proposal;
  if (!note.is_object()) {
    proposal.point = TRY(point_of(note));
    return proposal;
  }
  if (note.contains("j")) {
    proposal.point.parameters = note["j"];
  } else {
    proposal.point = TRY(point_of(TRY(value_at(note, "p"))));
  }
  if (note.contains("b")) proposal.budget = TRY(number_at(note, "b"));
  if (note.contains("r")) proposal.resume = TRY(integer_at(note, "r"));
  if (note.contains("c")) proposal.checkpoint_from = TRY(integer_at(note, "c"));
  if (note.contains("t")) proposal.reason = TRY(text_at(note, "t"));
  return proposal;
}

}  // namespace

void note_answers(std::uint64_t call, std::span<const Answer> answers, std::string& notes) {
  fmt::format_to(std::back_inserter(notes), "[{},\"a\",[", call);
  for (std::size_t i = 0; i < answers.size(); ++i) {
    if (i > 0) notes += ',';
    if (const auto* proposal = std::get_if<Proposal>(&answers[i])) {
      add_proposal(*proposal, notes);
    } else {
      notes += std::holds_alternative<NotYet>(answers[i]) ? "\"n\"" : "\"e\"";
    }
  }
  notes += "]]\n";
}

void note_decisions(std::uint64_t call, std::span<const Decision> decisions, std::string& notes) {
  json list = json::array();
  for (const Decision& d : decisions) {
    list.push_back(json::array({d.trial, static_cast<int>(d.action), d.reason, d.complete}));
  }
  notes += fmt::format("[{},\"d\",{}]\n", call, dump_json(list));
}

void note_refusal(std::uint64_t call, const std::string& message, std::string& notes) {
  notes += fmt::format("[{},\"r\",{}]\n", call, dump_json(message));
}

std::map<std::uint64_t, Note> read_notes(const std::string& notes) {
  std::map<std::uint64_t, Note> read;
  std::string_view rest = notes;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\n');
    const auto line = parse_json(rest.substr(0, end));
    rest.remove_prefix(end == std::string_view::npos ? rest.size() : end + 1);
    if (!line || !line->is_array() || line->size() != 3) continue;
    const json& call = (*line)[0];
    const json& kind = (*line)[1];
    if (!call.is_number_unsigned() || !kind.is_string()) continue;
    const auto& letter = kind.get_ref<const std::string&>();
    if (letter.size() != 1) continue;
    read.insert_or_assign(call.get<std::uint64_t>(), Note{letter[0], (*line)[2]});
  }
  return read;
}

Result<std::vector<Answer>> answers_from(const json& content) {
  if (!content.is_array()) return fail("a note without answers");
  std::vector<Answer> answers;
  for (const json& note : content) answers.push_back(TRY(answer_of(note)));
  return answers;
}

Result<std::vector<Decision>> decisions_from(const json& content) {
  if (!content.is_array()) return fail("a note without decisions");
  std::vector<Decision> decisions;
  for (const json& d : content) {
    const bool fine = d.is_array() && d.size() == 4 && d[0].is_number_integer() &&
                      d[1].is_number_integer() && d[2].is_string() && d[3].is_boolean();
    if (!fine || d[1] < 0 || d[1] > static_cast<int>(Action::drop_checkpoint)) {
      return fail("a note with an odd decision");
    }
    decisions.push_back({.trial = d[0].get<TrialId>(),
                         .action = static_cast<Action>(d[1].get<int>()),
                         .reason = d[2].get<std::string>(),
                         .complete = d[3].get<bool>()});
  }
  return decisions;
}

}  // namespace attune

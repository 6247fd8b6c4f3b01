#pragma once
// What a plug-in has answered, as text for the journal (Tuner::take_notes). One line a call, each a
// JSON array: the number of the call, a letter for the kind, and the answers.
//
//   [12,"a",[[0.5,null],"n","e",{"p":[3.0],"b":9.0,"r":7,"t":"why"}]]   ask: three kinds of answers
//   [13,"d",[[7,3,"too slow",false]]]                                   decisions
//   [14,"r","no such space"]                                            a search space was refused
//
// Numbers come back with every bit. null in a point: the parameter is inactive. "j" in place of
// "p": the parameters of a point in an unread space.
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "tuners/tuner.h"

namespace attune {

void note_answers(std::uint64_t call, std::span<const Answer> answers, std::string& notes);
void note_decisions(std::uint64_t call, std::span<const Decision> decisions, std::string& notes);
void note_refusal(std::uint64_t call, const std::string& message, std::string& notes);

struct Note {
  char kind = 'a';
  json content;
};
// By the number of the call. Lines that are none are left out: the replay of the journal then finds
// that an answer does not follow.
std::map<std::uint64_t, Note> read_notes(const std::string& notes);

// The contents of notes. Errors: they are none of this kind.
Result<std::vector<Answer>> answers_from(const json& content);
Result<std::vector<Decision>> decisions_from(const json& content);

}  // namespace attune

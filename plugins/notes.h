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
#include <utility>
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

// The notes that a guard makes, and those that it repeats in a replay.
class Notebook {
 public:
  // A call begins whose answer may be noted.
  void next_call() { ++call_; }
  std::uint64_t calls() const { return call_; }
  void set_calls(std::uint64_t calls) { call_ = calls; }

  // Of the present call.
  void add(std::span<const Answer> answers) { note_answers(call_, answers, notes_); }
  void add(std::span<const Decision> decisions) { note_decisions(call_, decisions, notes_); }
  void add_refusal(const std::string& message) { note_refusal(call_, message, notes_); }
  std::string take() { return std::exchange(notes_, {}); }

  // As the functions of Tuner.
  void replay(const std::string& notes) {
    replaying_ = true;
    pending_ = read_notes(notes);
  }
  void end_replay() {
    replaying_ = false;
    pending_.clear();
  }
  bool replaying() const { return replaying_; }
  // What the replay has of the present call; null: nothing of this kind.
  const json* noted(char kind) const {
    const auto found = pending_.find(call_);
    return found != pending_.end() && found->second.kind == kind ? &found->second.content : nullptr;
  }

 private:
  std::uint64_t call_ = 0;
  std::string notes_;  // not taken yet
  bool replaying_ = false;
  std::map<std::uint64_t, Note> pending_;
};

}  // namespace attune

#pragma once
// Events of a commander's tasks that people want to know, a line each.
#include <string>

#include "cluster/pool/board.h"
#include "cluster/pool/record.h"

namespace attune {

// Results of evaluations, failures, further attempts, learners that begin and end. Empty: not worth
// a line.
std::string task_event(const Record& record, const Task& task);

}  // namespace attune

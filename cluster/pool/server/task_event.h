#pragma once
// What people want to know of the tasks of a commander, in a line.
#include <string>

#include "cluster/pool/board.h"
#include "cluster/pool/record.h"

namespace attune {

// Results of evaluations, failures, learners that begin and end. Empty: nothing worth a line.
std::string task_event(const Record& record, const Task& task);

}  // namespace attune

#pragma once
// What queued messages hold in memory, in bytes: JSON takes many times its text, so that counting
// frames would not bound it.
#include "dispatcher/messages.h"

namespace attune {

// Of a command that is about to become messages, beside its text.
std::size_t memory_of(const Command& command);

// Of what a worker says, all of it.
std::size_t memory_of(const WorkerMessage& message);

}  // namespace attune

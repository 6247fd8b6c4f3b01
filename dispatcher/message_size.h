#pragma once
// Estimates the memory of queued messages, in bytes. JSON takes many times the memory of its text,
// so the sizes of frames would be no bound.
#include "dispatcher/messages.h"

namespace attune {

// The JSON of a command, without the text of its frame.
std::size_t memory_of(const Command& command);

// All of a worker's message.
std::size_t memory_of(const WorkerMessage& message);

}  // namespace attune

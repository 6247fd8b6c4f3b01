#pragma once

namespace attune {

// When what was written to a file reaches the disk itself. The program may be killed at any moment
// with any of them; this is about a crash of the machine.
enum class Durability {
  never,        // when the system likes
  each_second,  // once a second
  always,       // before it counts
};

}  // namespace attune

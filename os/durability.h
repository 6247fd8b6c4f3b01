#pragma once

namespace attune {

// When what was written to a file reaches the disk itself. This matters only if the machine
// crashes: the program may be killed at any moment, whatever the value.
enum class Durability {
  never,        // when the system writes it
  each_second,  // once a second
  always,       // before a write counts as done
};

}  // namespace attune

#pragma once
#include <string>

#include "base/command_description.h"

namespace attune {

// The manual page of a program (section 1), in the macros of man(7): its options, then each command
// with its options and examples. `see_also`: for example "attuned(1)".
std::string man_page(const DescribedCommand& program, const std::string& version,
                     const std::string& see_also);

}  // namespace attune

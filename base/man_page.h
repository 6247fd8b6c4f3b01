#pragma once
#include <string>

#include "base/command_description.h"

namespace attune {

// The page of a program for section 1 of the manual, in the macros of man(7): its options, then
// each command with its options and examples. `see_also`: "attuned(1)".
std::string man_page(const DescribedCommand& program, const std::string& version,
                     const std::string& see_also);

}  // namespace attune

#pragma once
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace attune {

// Splits a command line into words as a shell does: at spaces, with '...', "..." and \. No shell
// runs it, so what only a shell could carry out (pipes, variables, patterns) is an error unless it
// is quoted. Errors: a quote without its end, no word.
Result<std::vector<std::string>> command_words(std::string_view text);

}  // namespace attune

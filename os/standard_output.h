#pragma once
#include <cstdio>
#include <string_view>

namespace attune {

// For the end of a program: checks that everything it printed was written to standard output. If
// not, says so on standard error, in the name of `program`, and returns 1 instead of a `code` of 0.
// If the reader has gone (head), returns the same but says nothing.
int finish_output(int code, const char* program);

// Writes `text`, and ignores errors. fmt::print() would throw: a full disk, or a terminal that has
// gone, must not end the work.
void put_text(std::FILE* stream, std::string_view text);

}  // namespace attune

#pragma once
#include <cstdio>
#include <string_view>

namespace attune {

// The end of a program: whether all that it printed has arrived. If not that is said on standard
// error, in the name of `program`, and 1 takes the place of a `code` of 0. A reader that has gone
// (head) knows, and is no reason for words.
int finish_output(int code, const char* program);

// Unlike fmt::print() it does not throw: what is said about the work is no reason to end it when
// it cannot be written (a full disk, a terminal that has gone).
void put_text(std::FILE* stream, std::string_view text);

}  // namespace attune

#pragma once

namespace attune {

// The end of a program: whether all that it printed has arrived. If not that is said on standard
// error, in the name of `program`, and 1 takes the place of a `code` of 0. A reader that has gone
// (head) knows, and is no reason for words.
int finish_output(int code, const char* program);

}  // namespace attune

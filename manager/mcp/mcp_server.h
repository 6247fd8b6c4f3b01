#pragma once
// The command attune mcp: a server of the Model Context Protocol on standard input and output.
#include <cstdio>

#include "base/result.h"
#include "manager/cli/options.h"
#include "manager/mcp/session.h"

namespace attune {

// Answers the messages of `in` on `out`, one a line, until `in` ends or `out` takes no more.
void serve(int in, std::FILE* out, McpSession& session);

// Serves standard input and output. Nothing else is written to standard output. Returns the exit
// code.
Result<int> serve_mcp(const McpOptions& options);

}  // namespace attune

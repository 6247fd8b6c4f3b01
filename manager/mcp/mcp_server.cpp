#include "manager/mcp/mcp_server.h"

#include <unistd.h>

#include "manager/mcp/inbox.h"
#include "os/standard_output.h"

namespace attune {
namespace {

// No client floods the file into which its user keeps our standard error.
constexpr int kLogLinesASecond = 10;

}  // namespace

void serve(int in, std::FILE* out, McpSession& session) {
  Inbox inbox(in);
  while (auto message = inbox.next()) {
    const auto answer =
        *message ? session.answer(**message) : std::optional(rpc_error(message->error()));
    if (!answer) continue;
    put_text(out, dump_json(*answer) + "\n");
    // A large text was written without the buffer; then only the stream knows that it failed.
    if (std::fflush(out) != 0 || std::ferror(out) != 0) return;
  }
}

Result<int> serve_mcp(const McpOptions& options) {
  const SystemClock clock;
  McpSession session(
      {.context = {options.directory, clock},
       .allow_changes = options.allow_changes,
       .log = Log::to_stderr(LogLevel::info).named("mcp").limited(kLogLinesASecond)});
  serve(STDIN_FILENO, stdout, session);
  return kExitOk;
}

}  // namespace attune

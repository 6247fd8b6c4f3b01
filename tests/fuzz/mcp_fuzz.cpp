// A client of attune mcp that sends anything. The first byte says whether it is allowed to change
// experiments, and whether it has said initialize. There is no store, so that no tool gets far: the
// target is the protocol. Whatever comes, only messages go out, and no more than requests came in.
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "manager/mcp/mcp_server.h"
#include "os/unique_fd.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

namespace {

constexpr std::string_view kInitialize =
    R"({"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-03-26"}})"
    "\n";

UniqueFd file_of(std::string_view text) {
  UniqueFd file(::memfd_create("input", MFD_CLOEXEC));
  ATTUNE_CHECK(::write(file.get(), text.data(), text.size()) == std::ssize(text));
  ATTUNE_CHECK(::lseek(file.get(), 0, SEEK_SET) == 0);
  return file;
}

std::string served(std::string_view input, bool allow_changes) {
  const ManualClock clock;
  McpSession session({.context = {"/nonexistent/attune", clock}, .allow_changes = allow_changes});
  const UniqueFd in = file_of(input);
  char* text = nullptr;
  std::size_t size = 0;
  std::FILE* out = ::open_memstream(&text, &size);
  serve(in.get(), out, session);
  std::fclose(out);
  std::string output(text, size);
  std::free(text);
  return output;
}

void check_answer(const json& answer) {
  ATTUNE_CHECK(answer.is_object() && answer.value("jsonrpc", "") == "2.0");
  ATTUNE_CHECK(answer.contains("id") && answer.contains("result") != answer.contains("error"));
  if (answer.contains("error")) {
    const int code = answer["error"]["code"].get<int>();
    ATTUNE_CHECK(code == kParseError || code == kInvalidRequest || code == kMethodNotFound ||
                 code == kInvalidParams);
    return;
  }
  ATTUNE_CHECK(answer["result"].is_object());
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const auto first = static_cast<unsigned char>(input.front());
  std::string said(input.substr(1));
  if ((first & 2) != 0) said.insert(0, kInitialize);
  const std::string all = served(said, (first & 1) != 0);
  std::string_view output = all;
  const auto lines = std::ranges::count(said, '\n') + 1;
  std::ptrdiff_t answers = 0;
  while (!output.empty()) {
    const std::size_t end = output.find('\n');
    ATTUNE_CHECK(end != std::string_view::npos);
    const auto answer = parse_json(output.substr(0, end));
    ATTUNE_CHECK(answer);
    output.remove_prefix(end + 1);
    ++answers;
    if (answer->is_array()) {
      std::ranges::for_each(*answer, check_answer);
    } else {
      check_answer(*answer);
    }
  }
  ATTUNE_CHECK(answers <= lines);
}

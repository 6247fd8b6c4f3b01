#include "backends/local/leftovers.h"

#include <sys/wait.h>

#include <fstream>

#include "os/process.h"
#include "tests/backends/local/local_fixture.h"

namespace attune::leftovers_test {

using namespace attune::test;

TEST_CASE("leftovers: a process that is replacing its program is found too") {
  constexpr int kProcesses = 24;
  TemporaryFolder folder;
  // While a process executes another program, there are moments in which it has no environment.
  const fs::path script = folder.path / "again";
  std::ofstream(script) << "exec /bin/sh \"$0\"\n";
  Lifeline line(folder.path / "line");
  ProcessSpec spec;
  spec.arguments = {"/bin/sh", "-c", "exec 9> line; printf x >&9; exec /bin/sh again"};
  spec.environment = {"PATH=/usr/bin:/bin", "NNI_SYS_DIR=" + folder.path.string(),
                      "ATTUNE_ATTEMPT=3"};
  spec.directory = folder.path;
  std::vector<pid_t> children;
  for (int i = 0; i < kProcesses; ++i) {
    auto child = spawn_process(spec);
    REQUIRE(child.has_value());
    children.push_back(child->pid);
  }
  for (int i = 0; i < kProcesses; ++i) CHECK(line.wait_for_byte());
  CHECK_FALSE(kill_leftovers(folder.path, 2, {}));
  CHECK(kill_leftovers(folder.path, 3, {}));
  // Whatever was overlooked ends now, by another signal.
  for (const pid_t child : children) ::kill(child, SIGTERM);
  for (const pid_t child : children) {
    int status = 0;
    CHECK(::waitpid(child, &status, 0) == child);
    CHECK(WIFSIGNALED(status));
    CHECK(WTERMSIG(status) == SIGKILL);
  }
}

}  // namespace attune::leftovers_test

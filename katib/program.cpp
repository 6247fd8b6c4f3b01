#include "katib/program.h"

#include <malloc.h>
#include <pthread.h>

#include <csignal>
#include <cstdio>

#include "katib/options.h"
#include "katib/server.h"
#include "katib/settings.h"
#include "os/private_file.h"

namespace attune::katib {

int run(int argc, char** argv, const TunerRegistry& tuners, const AssessorRegistry& assessors) {
  const auto options = read_options(argc, argv);
  if (!options) {
    std::fputs(options.error().text.c_str(), options.error().exit_code == 0 ? stdout : stderr);
    return options.error().exit_code;
  }
  if (options->list) {
    for (const std::string& name : accepted_algorithms(tuners)) std::printf("%s\n", name.c_str());
    return 0;
  }
  // gRPC changes the thread that handles calls. With a heap for each of them, what one has freed
  // would not serve the next, and the process would keep several times the largest request.
  ::mallopt(M_ARENA_MAX, 1);
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);  // a file that may not grow is an error like a full disk
  // Before any thread is started, so that none of them takes the signals.
  sigset_t ends;
  sigemptyset(&ends);
  sigaddset(&ends, SIGTERM);
  sigaddset(&ends, SIGINT);
  ::pthread_sigmask(SIG_BLOCK, &ends, nullptr);

  const Log log = Log::to_stderr(options->log_level).named("katib");
  if (!options->folder.empty()) {
    if (auto made = make_directories(options->folder); !made) {
      std::fprintf(stderr, "attune-katib: --data: %s\n", made.error().message.c_str());
      return 2;
    }
  }
  auto server = serve(*options, tuners, assessors, log);
  if (!server) {
    std::fprintf(stderr, "attune-katib: %s\n", server.error().message.c_str());
    return 2;
  }
  std::printf("attune-katib serves at %s\n", (*server)->address().c_str());
  std::fflush(stdout);
  int signal = 0;
  ::sigwait(&ends, &signal);
  (*server)->stop();
  return 0;
}

}  // namespace attune::katib

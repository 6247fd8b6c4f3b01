#include "examples/cart_pole/task.h"

#include <signal.h>

namespace cart_pole {

void hold_back_sigterm() {
  sigset_t signals;
  ::sigemptyset(&signals);
  ::sigaddset(&signals, SIGTERM);
  ::sigprocmask(SIG_BLOCK, &signals, nullptr);
}

bool has_sigterm() {
  sigset_t pending;
  return ::sigpending(&pending) == 0 && ::sigismember(&pending, SIGTERM) == 1;
}

attune::Result<Task> Task::from_environment(std::size_t unacknowledged) {
  attune::Trial trial = TRY(attune::Trial::from_environment());
  const auto parameters = TRY(trial.next_parameters());
  if (!parameters) return attune::fail("there are no parameters");
  Settings settings = TRY(parse_settings(*parameters));
  if (settings.policy.empty()) return attune::fail("policy: the path of a file is wanted");
  if (settings.buffer.empty() && !settings.evaluate)
    return attune::fail("buffer: the name of one is wanted");
  // Trial and settings go into it as they are; an evaluation needs no coordinator.
  attune::BufferClientOptions options;
  options.unacknowledged = unacknowledged;
  options.stop = has_sigterm;
  if (settings.evaluate)
    return Task{std::move(trial), std::move(settings), attune::BufferClient(options)};
  attune::BufferClient client = TRY(attune::BufferClient::from_trial(trial, *parameters, options));
  return Task{std::move(trial), std::move(settings), std::move(client)};
}

}  // namespace cart_pole

#pragma once
// What the programs of the coordinator's tasks have in common: a trial with its settings, and a
// client for the buffer that ends its calls after SIGTERM, so that the program can clean up.
#include "base/result.h"
#include "examples/cart_pole/settings.h"
#include "trial/buffer_client.h"
#include "trial/trial.h"

namespace cart_pole {

struct Task {
  attune::Trial trial;
  Settings settings;
  attune::BufferClient client;

  // `unacknowledged`: BufferClientOptions.
  static attune::Result<Task> from_environment(std::size_t unacknowledged);
};

void hold_back_sigterm();  // at the beginning of main, before there are threads
bool has_sigterm();        // it came, and was held back

}  // namespace cart_pole

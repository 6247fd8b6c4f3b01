// attune pool: asks a coordinator how things stand, and prints it.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/saved_numbers.h"
#include "coordinator/wire/dialer.h"
#include "runner/commands/pool_text.h"
#include "runner/dial_address.h"
#include "runner/pool_commands.h"

namespace attune {
namespace {

constexpr std::chrono::seconds kPatience{5};

// The first answer to `status`.
Result<json> ask(const PoolOptions& options, std::uint64_t entropy) {
  boost::asio::io_context io;
  boost::asio::steady_timer patience(io, kPatience);
  std::unique_ptr<Connection> connection;
  std::optional<Result<json>> answer;
  const auto end = [&](Result<json> with) {
    if (!answer) answer = std::move(with);
    io.stop();
  };
  patience.async_wait([&](const boost::system::error_code&) { end(fail("it does not answer")); });
  Dialer dialer(
      io, TRY(dial_options(options.join, options.token_file)), Rng(entropy),
      {[] { return json{{"role", "client"}, {"client", fmt::format("view-{}", ::getpid())}}; },
       [&](std::unique_ptr<Connection> made, const json&) {
         connection = std::move(made);
         connection->start({[&](const json& message) {
                              if (message.value("type", "") == "status") end(message);
                            },
                            [&](const std::string& why) { end(fail(why)); },
                            {}});
         if (auto sent = connection->send({{"type", "status"}}); !sent)
           end(std::unexpected(sent.error()));
       },
       [&](DialState state, const std::string& reason) {
         if (state == DialState::refused || state == DialState::waiting) end(fail(reason));
       }});
  dialer.dial();
  io.run();
  if (*answer) return *std::move(answer);
  return fail(
      fmt::format("{}; --join names the folder, or the address, of a coordinator that runs, not {}",
                  answer->error().message, options.join));
}

}  // namespace

Result<int> show_pool(const PoolOptions& options, const Console& console,
                      const Surroundings& surroundings) {
  json status = TRY(ask(options, surroundings.entropy));
  status.erase("type");
  if (options.json) {
    print_json(console, status);
    return kExitOk;
  }
  print_text(console, TRY(pool_text(status, console)));
  return kExitOk;
}

}  // namespace attune

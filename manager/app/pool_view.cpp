// The command attune pool: asks a coordinator for its state and prints it, or tells it to end tasks
// or drain workers.
#include <fmt/format.h>
#include <unistd.h>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <filesystem>
#include <optional>

#include "base/terminal_text.h"
#include "cluster/pool/roles.h"
#include "manager/app/pool_commands.h"
#include "manager/cli/commands/pool_text.h"
#include "manager/control/json_format.h"
#include "manager/experiment/dial_address.h"
#include "manager/store/store_reader.h"
#include "os/standard_output.h"
#include "wire/dialer.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

constexpr std::chrono::seconds kPatience{5};
constexpr char kHere[] = "attune-coordinator", kExperiments[] = "attune-experiments";
constexpr char kHint[] = "--join names the folder, or the address, of a coordinator that runs";

// The coordinator that an experiment has, or had.
fs::path coordinator_of(const StoredExperiment& experiment) {
  const json pool = experiment.file.value("pool", json::object());
  const json other = pool.is_object() ? pool.value("coordinator", json()) : json();
  if (other.is_string()) return other.get<std::string>();
  return experiment.directory / "coordinator";
}

// The coordinator to ask without --join: that in ./attune-coordinator, else the newest one of an
// experiment in ./attune-experiments.
Result<std::string> find_coordinator() {
  std::error_code none;
  if (fs::exists(role_file(kHere, kViewRole), none)) return kHere;
  if (auto reader = StoreReader::open(kExperiments)) {
    for (const StoredExperiment& experiment : TRY(reader->experiments())) {
      const fs::path coordinator = coordinator_of(experiment);
      if (fs::exists(role_file_of(coordinator, kViewRole), none)) return coordinator.string();
    }
  }
  return fail(fmt::format("no coordinator in {}, and none of an experiment in {}; {}", kHere,
                          kExperiments, kHint));
}

// Whether a message of this type answers a command of ours. Each command gets one answer.
bool is_answer(const std::string& type) {
  return type == "status" || type == "told_to_end" || type == "drained" || type == "refused";
}

// Connects, sends the messages `said`, and returns the answers in the same order. Blocks for at
// most kPatience.
Result<std::vector<json>> ask(const DialerOptions& dial, std::string_view role,
                              std::uint64_t entropy, const std::vector<json>& said) {
  if (!dial.file.empty()) {
    std::error_code error;
    if (!fs::exists(dial.file, error))
      return fail(fmt::format("{} {}; {}", dial.file,
                              error ? "cannot be looked at: " + error.message() : "does not exist",
                              kHint));
    TRY(check_role(dial.file, role));
  }
  boost::asio::io_context io;
  boost::asio::steady_timer patience(io, kPatience);
  std::unique_ptr<Connection> connection;
  std::vector<json> answers;
  std::optional<Result<std::vector<json>>> answer;
  const auto end = [&](Result<std::vector<json>> with) {
    if (!answer) answer = std::move(with);
    io.stop();
  };
  patience.async_wait([&](const boost::system::error_code&) {
    end(fail(fmt::format("it does not answer within {} s; {}", kPatience.count(), kHint)));
  });
  Dialer dialer(io, dial, Identity{std::string(role), fmt::format("pool-{}", ::getpid())},
                Rng(entropy),
                {[] { return json::object(); },
                 [&](std::unique_ptr<Connection> made, const json&) {
                   connection = std::move(made);
                   connection->start({[&](const json& message) {
                                        if (is_answer(message.value("type", "")))
                                          answers.push_back(message);
                                        if (answers.size() == said.size()) end(answers);
                                      },
                                      [&](const std::string& why) { end(fail(why)); },
                                      {}});
                   for (const json& each : said) {
                     if (auto sent = connection->send(each); !sent)
                       end(std::unexpected(sent.error()));
                   }
                 },
                 [&](DialState state, const std::string& reason) {
                   if (state == DialState::refused) end(fail(reason));
                   if (state == DialState::waiting) end(fail(fmt::format("{}; {}", reason, kHint)));
                 }});
  dialer.dial();
  io.run();
  return *std::move(answer);
}

std::string done_text(const json& answer) {
  if (answer["type"] == "drained") {
    const std::size_t tasks = answer["tasks"].size();
    return fmt::format(
        "worker {} takes nothing more{}\n", answer["worker"].get<std::string>(),
        tasks == 0 ? ", and goes" : fmt::format(", and goes when its {} tasks have ended", tasks));
  }
  const std::string client = answer["client"].get<std::string>();
  return fmt::format("task {}{} is told to end\n", answer["task"].get<std::string>(),
                     client.empty() ? "" : fmt::format(" of {}", client));
}

// Sends the orders. A refused one gives a message on standard error and exit code 1.
Result<int> act(const PoolOptions& options, const DialerOptions& dial, const Console& console,
                std::uint64_t entropy) {
  std::vector<json> said;
  for (const std::string& task : options.cancel)
    said.push_back(
        {{"type", "end_task"}, {"task", task}, {"cause", "attune pool cancel has ended it"}});
  for (const std::string& worker : options.drain)
    said.push_back({{"type", "drain_worker"}, {"worker", worker}});
  json answers = TRY(ask(dial, kClientRole, entropy, said));
  int code = kExitOk;
  for (json& each : answers) {
    const bool refused = each["type"] == "refused";
    if (refused) {
      code = kExitFailed;
      put_text(console.err, fmt::format("attune: {}\n", terminal_text(each.value("message", ""))));
    } else if (!options.json) {
      print_text(console, done_text(each));
    }
    each["done"] = !refused;
    each.erase("type");
  }
  for (json& each : answers) each = with_format(each);
  if (options.json) print_json(console, answers);
  return code;
}

}  // namespace

Result<int> show_pool(const PoolOptions& options, const Console& console,
                      const Surroundings& surroundings) {
  const std::string join = options.join.empty() ? TRY(find_coordinator()) : options.join;
  const bool orders = !options.cancel.empty() || !options.drain.empty();
  const auto dial = dial_options(join, options.secret_file, orders ? kClientRole : kViewRole);
  if (!dial) {
    put_text(console.err, fmt::format("attune: {}\n", terminal_text(dial.error().message)));
    return kExitUsage;
  }
  if (orders) return act(options, *dial, console, surroundings.entropy);
  json status = TRY(ask(*dial, kViewRole, surroundings.entropy, {{{"type", "status"}}})).front();
  status.erase("type");
  if (options.json) {
    print_json(console, with_format(status));
    return kExitOk;
  }
  print_text(console, TRY(pool_text(status, console)));
  return kExitOk;
}

}  // namespace attune

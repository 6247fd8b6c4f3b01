#include "cluster/batch/command_batch_system.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <filesystem>
#include <optional>

namespace attune {
namespace {

// How many of a kind run at once: a controller answers its requests one by one anyway.
constexpr int kAtOnce = 2;
// The most names in one command: its arguments must not become too long.
constexpr std::size_t kLook = 100;

// A job whose output folder does not exist would fail without a message.
std::optional<BatchRefusal> check_folder(const BatchJob& job) {
  if (job.output.empty()) return std::nullopt;
  std::error_code error;
  const std::filesystem::path folder = job.output.parent_path();
  if (job.output.is_absolute()) {
    std::filesystem::create_directories(folder, error);  // it may have been deleted
    if (std::filesystem::is_directory(folder, error)) return std::nullopt;
  }
  return BatchRefusal{
      !job.output.is_absolute(), "output",
      fmt::format(
          "job {}: its output cannot be {}: there is no such folder, and none can be made{}",
          job.name, job.output.string(), error ? ": " + error.message() : "")};
}

}  // namespace

CommandBatchSystem::CommandBatchSystem(boost::asio::io_context& io,
                                       std::unique_ptr<BatchCommands> commands,
                                       const std::vector<std::string>& environment,
                                       const std::vector<std::string>& submitting)
    : io_(io),
      commands_(std::move(commands)),
      submissions_(io, submitting, kAtOnce),
      others_(io, environment, kAtOnce) {}

void CommandBatchSystem::submit(BatchJob job, OnSubmitted done) {
  auto command = commands_->submit(job);
  if (!command) return refuse(std::move(done), std::move(command).error());
  if (auto refusal = check_folder(job)) return refuse(std::move(done), *std::move(refusal));
  if (!answering_.insert(job.name).second) {
    return refuse(std::move(done),
                  {false, "", fmt::format("job {} is being submitted already", job.name)});
  }
  waiting_.push_back({std::move(job), *std::move(command), std::move(done)});
  look();
}

void CommandBatchSystem::refuse(OnSubmitted done, BatchRefusal refusal) {
  boost::asio::post(
      io_, [done = std::move(done), refusal = std::move(refusal), alive = std::weak_ptr(alive_)] {
        if (!alive.expired()) done(std::unexpected(refusal));
      });
}

// Looks for the names of the waiting submissions, by one command at a time. Submissions that come
// meanwhile share the next one.
void CommandBatchSystem::look() {
  if (looking_ || waiting_.empty()) return;
  looking_ = true;
  const auto last =
      waiting_.begin() + static_cast<std::ptrdiff_t>(std::min(kLook, waiting_.size()));
  std::vector<Waiting> looked(std::make_move_iterator(waiting_.begin()),
                              std::make_move_iterator(last));
  waiting_.erase(waiting_.begin(), last);
  std::vector<std::string> names;
  for (const Waiting& each : looked) names.push_back(each.job.name);
  CommandLine command = commands_->list(names);
  others_.run(std::move(command),
              [this, looked = std::move(looked)](const CommandEnd& end) mutable {
                looking_ = false;
                on_look(std::move(looked), commands_->listed(end));
                look();
              });
}

void CommandBatchSystem::on_look(std::vector<Waiting> looked, const Result<BatchStates>& states) {
  for (Waiting& each : looked) {
    if (!states) {
      answer(each, std::unexpected(BatchRefusal{false, "", states.error().message}));
    } else if (const auto found = states->find(each.job.name); found != states->end()) {
      answer(each, BatchAccepted{found->second.id, true});
    } else {
      CommandLine command = std::move(each.command);
      submissions_.run(std::move(command), [this, each = std::move(each)](const CommandEnd& end) {
        answer(each, commands_->submitted(end));
      });
    }
  }
}

void CommandBatchSystem::answer(const Waiting& waiting, BatchSubmission submission) {
  answering_.erase(waiting.job.name);
  waiting.done(std::move(submission));
}

void CommandBatchSystem::list(OnListed done) {
  others_.run(commands_->list({}), [this, done = std::move(done)](const CommandEnd& end) {
    done(commands_->listed(end));
  });
}

// Answers when all commands have ended, with the first error if there was one.
void CommandBatchSystem::cancel(std::vector<std::string> names, OnDone done) {
  std::vector<CommandLine> commands = commands_->cancel(names);
  struct Sum {
    OnDone done;
    std::size_t left;
    Result<void> result;
  };
  if (commands.empty()) {
    boost::asio::post(io_, [done = std::move(done), alive = std::weak_ptr(alive_)] {
      if (!alive.expired()) done({});
    });
    return;
  }
  const auto sum = std::make_shared<Sum>(Sum{std::move(done), commands.size(), {}});
  for (CommandLine& command : commands) {
    others_.run(std::move(command), [this, sum](const CommandEnd& end) {
      if (Result<void> each = commands_->done(end); !each && sum->result) sum->result = each;
      if (--sum->left == 0) sum->done(sum->result);
    });
  }
}

}  // namespace attune

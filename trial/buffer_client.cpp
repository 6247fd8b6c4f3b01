#include "trial/buffer_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/crc32c.h"

namespace attune {
namespace {

constexpr std::size_t kMostNotes = 1024;
constexpr std::size_t kMostMetaBytes = std::size_t{64} << 10;
constexpr double kMostPriority = 1e100;
constexpr std::size_t kMostUpdates = 100'000;  // of one message: some 5 MiB

bool is_priority(double x) { return x >= 0 && x <= kMostPriority; }

Result<json> to_json(DataItem item) {
  if (item.meta.size() > kMostMetaBytes || !is_utf8(item.meta))
    return fail("push: meta must be UTF-8 of at most 64 KiB");
  if (item.priority && !is_priority(*item.priority))
    return fail(fmt::format("push: priority {} is not from 0 to 1e100", *item.priority));
  if (item.collect_iter && *item.collect_iter < 0)
    return fail(fmt::format("push: collect_iter {} is negative", *item.collect_iter));
  json object = {{"meta", std::move(item.meta)}};
  if (item.priority) object["priority"] = *item.priority;
  if (item.collect_iter) object["collect_iter"] = *item.collect_iter;
  return object;
}

}  // namespace

Result<BufferClient> BufferClient::from_trial(const Trial& trial, const json& parameters,
                                              BufferClientOptions options) {
  const auto found = parameters.find("coordinator");
  if (found == parameters.end() || !found->is_string())
    return fail("the parameter \"coordinator\" must be a text: the address file of a coordinator");
  if (trial.stand_alone() || trial.id().empty())
    return fail("this program is no task of a coordinator: NNI_TRIAL_JOB_ID is not set");
  options.address_file = found->get<std::string>();
  options.task = trial.id();
  options.attempt = trial.attempt();
  options.key = trial.task_key();
  return BufferClient(std::move(options));
}

// The name is the seed of the pauses: programs that lose a coordinator together have different
// names, and so come back at different times.
BufferClient::BufferClient(BufferClientOptions options)
    : options_(std::move(options)),
      backoff_(options_.first_pause, options_.longest_pause,
               Rng(crc32c(fmt::format("{} {}", options_.task, options_.attempt)))) {}

Result<bool> BufferClient::push(const std::string& buffer, std::vector<DataItem> items) {
  std::vector<json> objects;
  for (DataItem& item : items) objects.push_back(TRY(to_json(std::move(item))));
  Channel& channel = channels_[buffer];
  if (failure_) return std::unexpected(*failure_);
  if (channel.closed) return false;
  for (json& object : objects) channel.waiting.push_back(std::move(object));
  TRY(await([&] {
    if (channel.closed) return true;
    const bool said = channel.waiting.empty() || channel.in_flight > 0;
    return said && channel.waiting.size() <= options_.unacknowledged;
  }));
  return !channel.closed;
}

Result<bool> BufferClient::flush(const std::string& buffer) {
  Channel& channel = channels_[buffer];
  if (failure_) return std::unexpected(*failure_);
  if (channel.closed) return false;
  TRY(await([&] { return channel.closed || channel.waiting.empty(); }));
  return !channel.closed;
}

Result<std::optional<std::vector<SampledItem>>> BufferClient::sample(const std::string& buffer,
                                                                     std::size_t n) {
  Channel& channel = channels_[buffer];
  if (n == 0) return fail("sample: 1 item or more is wanted");
  if (failure_) return std::unexpected(*failure_);
  if (channel.closed) return std::nullopt;
  // A batch for a call that was stopped answers this call, if its size fits.
  if (channel.batch && channel.batch->size() != n) channel.batch.reset();
  channel.wanted = n;
  TRY(await([&] { return channel.closed || channel.batch.has_value(); }));
  channel.wanted = 0;
  return std::exchange(channel.batch, std::nullopt);
}

Result<void> BufferClient::update(const std::string& buffer, std::span<const std::uint64_t> ids,
                                  std::span<const double> priorities) {
  if (ids.size() != priorities.size())
    return fail(
        fmt::format("update: {} priorities are given for {} ids", priorities.size(), ids.size()));
  for (const double each : priorities) {
    if (!is_priority(each))
      return fail(fmt::format("update: priority {} is not from 0 to 1e100", each));
  }
  while (!ids.empty()) {
    const auto some = ids.first(std::min(ids.size(), kMostUpdates));
    const auto theirs = priorities.first(some.size());
    json message = {{"type", "update"}, {"buffer", buffer}};
    message["ids"] = json(std::vector(some.begin(), some.end()));
    message["priorities"] = json(std::vector(theirs.begin(), theirs.end()));
    TRY(note(buffer, std::move(message)));
    ids = ids.subspan(some.size());
    priorities = priorities.subspan(some.size());
  }
  return {};
}

Result<void> BufferClient::advance(const std::string& buffer, std::int64_t iteration) {
  if (iteration < 0) return fail(fmt::format("advance: iteration {} is negative", iteration));
  return note(buffer, {{"type", "advance"}, {"buffer", buffer}, {"iteration", iteration}});
}

Result<void> BufferClient::note(const std::string& buffer, json message) {
  if (failure_) return std::unexpected(*failure_);
  if (closed(buffer)) return {};
  if (socket_) TRY(socket_->say(message));  // else connect() sends it
  notes_.push_back(std::move(message));
  ++notes_said_;
  if (notes_.size() > kMostNotes) notes_.pop_front();
  return await([] { return true; });
}

bool BufferClient::closed(const std::string& buffer) const {
  const auto found = channels_.find(buffer);
  return found != channels_.end() && found->second.closed;
}

}  // namespace attune

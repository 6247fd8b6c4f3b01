// How a BufferClient connects, waits, and handles what it receives.
#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/saved_numbers.h"
#include "trial/buffer_client.h"
#include "wire/address_file.h"

namespace attune {
namespace {

using std::chrono::milliseconds;

// No wait is longer than this: a signal that comes just before a wait begins does not interrupt it.
constexpr milliseconds kLongestWait{1'000};
constexpr char kRole[] = "data";
// The most of one message; the rest goes with the next.
constexpr std::size_t kMostItems = 1'000, kMostBytes = std::size_t{1} << 20;

milliseconds wait_of(double seconds) {
  return milliseconds(static_cast<int>(std::clamp(seconds * 1000, 0.0, 1000.0)));
}

Result<std::vector<SampledItem>> parse_batch(const json& message) {
  std::vector<SampledItem> batch;
  for (const json& each : TRY(array_at(message, "items"))) {
    SampledItem item;
    item.id = static_cast<std::uint64_t>(TRY(integer_at(each, "id")));
    item.meta = TRY(text_at(each, "meta"));
    item.weight = TRY(number_at(each, "weight"));
    batch.push_back(std::move(item));
  }
  return batch;
}

}  // namespace

std::unexpected<Error> BufferClient::give_up(std::string why) {
  failure_ = Error{std::move(why)};
  socket_.reset();  // closes the connection at once
  return std::unexpected(*failure_);
}

Result<void> BufferClient::check_stop() const {
  if (options_.stop && options_.stop()) return fail("it was asked to stop");
  return {};
}

// ---- waiting

// Runs the connection until done() holds and all is written. Connects if necessary. After `ping_`
// seconds without a message it sends a ping; after `silence_` seconds it gives up the connection.
Result<void> BufferClient::await(const std::function<bool()>& done) {
  if (failure_) return std::unexpected(*failure_);
  double heard = now();
  bool asked = false;
  while (true) {
    if (!socket_) {
      TRY(connect());
      heard = now();
    }
    TRY(say_due());
    // Even if nothing is to be waited for, one turn reads what came while the program computed.
    const bool enough = done() && !socket_->has_outgoing();
    const double quiet = now() - heard;
    const double until = asked ? silence_ : ping_;
    auto came = socket_->turn(enough ? milliseconds(0) : wait_of(until - quiet));
    TRY(hear_all());
    if (came && *came) {
      heard = now();
      asked = false;
    } else if (came && now() - heard >= silence_) {
      came = fail(fmt::format("it was silent for {:g} s", silence_));
    } else if (came && !asked && now() - heard >= ping_) {
      asked = true;
      TRY(socket_->say({{"type", "ping"}}));
    }
    if (!came) {
      trouble_ = came.error().message;
      socket_.reset();
      if (done() && notes_.empty()) return {};
    } else if (done() && !socket_->has_outgoing()) {
      return {};
    }
    TRY(check_stop());
  }
}

// Sends what is due of each buffer: one push and one sample at a time.
Result<void> BufferClient::say_due() {
  for (auto& [id, channel] : channels_) {
    if (channel.closed) continue;
    if (channel.in_flight == 0 && !channel.waiting.empty()) {
      json items = json::array();
      for (std::size_t bytes = 0; const json& item : channel.waiting) {
        if (items.size() >= kMostItems || bytes >= kMostBytes) break;
        bytes += item["meta"].get_ref<const std::string&>().size();
        items.push_back(item);
      }
      channel.in_flight = items.size();
      channel.push_mark = notes_said_;
      TRY(socket_->say(
          {{"type", "push"}, {"buffer", id}, {"seq", channel.first}, {"items", std::move(items)}}));
    }
    if (channel.wanted > 0 && !channel.asked && !channel.batch) {
      if (channel.ordered == 0) {
        channel.ordered = channel.wanted;
        ++channel.order;
      }
      channel.asked = true;
      channel.sample_mark = notes_said_;
      TRY(socket_->say({{"type", "sample"},
                        {"buffer", id},
                        {"seq", channel.order},
                        {"size", channel.ordered},
                        {"from", channel.parts.size()}}));
    }
  }
  return {};
}

// ---- connecting

Result<void> BufferClient::connect() {
  const double began = now();
  while (true) {
    TRY(check_stop());
    const auto dialled = dial();
    if (failure_) return std::unexpected(*failure_);
    if (dialled) break;
    trouble_ = dialled.error().message;
    socket_.reset();
    if (now() - began >= options_.patience) {
      return fail(
          fmt::format("there was no coordinator for {:g} s: {}", options_.patience, trouble_));
    }
    for (milliseconds rest = backoff_.next(); rest.count() > 0; rest -= kLongestWait) {
      TRY(check_stop());
      ::poll(nullptr, 0, static_cast<int>(std::min(rest, kLongestWait).count()));
    }
  }
  backoff_.reset();
  refused_by_.reset();
  for (auto& [id, channel] : channels_) {
    channel.in_flight = 0;
    channel.asked = false;
    channel.parts.clear();  // a restarted coordinator may have forgotten this batch
  }
  for (const json& message : notes_) TRY(socket_->say(message));
  return {};
}

// One try to connect, until the coordinator welcomes this client. After an error another try makes
// sense, unless failure_ is set.
Result<void> BufferClient::dial() {
  const WireAddress where = TRY(read_address_file(options_.address_file));
  if (where.role != kRole)
    return fail(
        fmt::format("{} is for the role {}, not for {}", options_.address_file, where.role, kRole));
  if (refused_by_ != where) refused_by_.reset();
  const double deadline = now() + std::chrono::duration<double>(options_.try_for).count();
  socket_ = TRY(MessageSocket::connect(where, options_.task, options_.try_for, *options_.clock));
  TRY(socket_->say({{"type", "hello"}, {"attempt", options_.attempt}, {"key", options_.key}}));
  while (true) {
    const auto came = socket_->turn(wait_of(deadline - now()));
    if (const auto message = TRY(socket_->next())) {
      if (message->value("type", json()) != "error") return meet(*message);
      const std::string why = refusal(*message);
      if (fenced_) return give_up(why);
      return message->value("final", json()) == true ? refused(where, why) : fail(why);
    }
    if (!came) {
      const std::string why = fmt::format("{}: {}", where.address, came.error().message);
      return socket_->refused() ? refused(where, why) : fail(why);
    }
    TRY(check_stop());
    if (now() >= deadline) return fail("no answer from " + where.address);
  }
}

// Gives up for good if the refusals have lasted for options_.refused seconds.
std::unexpected<Error> BufferClient::refused(const WireAddress& by, const std::string& why) {
  if (!refused_by_) refused_since_ = now();
  refused_by_ = by;
  if (now() - refused_since_ >= options_.refused) return give_up(why);
  return fail(why);
}

Result<void> BufferClient::meet(const json& message) {
  if (message.value("type", json()) != "welcome")
    return fail("it answers without a welcome: " + dump_json(message).substr(0, 100));
  const auto interval = [&](const char* key, double fallback) -> Result<double> {
    if (!message.contains(key)) return fallback;
    const double seconds = TRY(number_at(message, key));
    if (seconds >= 0.001 && seconds <= 86'400) return seconds;
    return fail(fmt::format("'{}' of its welcome is not 0.001 to 86400 seconds", key));
  };
  ping_ = TRY(interval("ping", 10));
  silence_ = TRY(interval("silence", 30));
  return {};
}

// ---- hearing

Result<void> BufferClient::hear_all() {
  while (true) {
    const auto message = socket_->next();
    if (!message) return give_up("the coordinator is not understood: " + message.error().message);
    if (!*message) return {};
    const auto heard = hear(**message);
    if (failure_) return std::unexpected(*failure_);
    if (!heard) return give_up("the coordinator is not understood: " + heard.error().message);
  }
}

std::string BufferClient::refusal(const json& message) {
  const json why = message.value("message", json());
  const std::string text = why.is_string() ? why.get<std::string>() : "it does not say why";
  fenced_ = message.value("code", json()) == "fenced";
  return (fenced_ ? "the coordinator has fenced off this process: " : "the coordinator refuses: ") +
         text;
}

Result<void> BufferClient::hear(const json& message) {
  const std::string type = TRY(text_at(message, "type"));
  if (type == "ping") return socket_->say({{"type", "pong"}});
  if (type == "error") return give_up(refusal(message));
  if (type != "pushed" && type != "batch" && type != "closed") return {};
  const auto found = channels_.find(TRY(text_at(message, "buffer")));
  if (type == "closed" && found == channels_.end()) {
    channels_[message["buffer"].get<std::string>()].closed = true;
    return {};
  }
  if (found == channels_.end()) return fail("it answers what nobody has asked");
  Channel& channel = found->second;
  if (type == "closed") {
    channel = Channel{};
    channel.closed = true;
  } else if (type == "batch") {
    TRY(hear_batch(channel, message));
  } else {
    const std::int64_t taken = TRY(integer_at(message, "seq")) - channel.first + 1;
    if (taken < 1 || taken > static_cast<std::int64_t>(channel.in_flight))
      return fail("it has taken items that were not pushed");
    confirm(channel.push_mark);
    channel.waiting.erase(channel.waiting.begin(), channel.waiting.begin() + taken);
    channel.first += taken;
    channel.in_flight = 0;
  }
  return {};
}

Result<void> BufferClient::hear_batch(Channel& channel, const json& message) {
  auto part = TRY(parse_batch(message));
  const bool fits = channel.asked && TRY(integer_at(message, "seq")) == channel.order &&
                    std::cmp_equal(TRY(integer_at(message, "from")), channel.parts.size()) &&
                    !part.empty() && part.size() <= channel.ordered - channel.parts.size();
  if (!fits) return fail("it gives a batch that nobody has asked for");
  confirm(channel.sample_mark);
  channel.asked = false;
  std::ranges::move(part, std::back_inserter(channel.parts));
  if (channel.parts.size() < channel.ordered) return {};
  channel.ordered = 0;
  part = std::exchange(channel.parts, {});
  // A batch of another size was for a call that was stopped.
  if (part.size() == channel.wanted) channel.batch = std::move(part);
  return {};
}

// The coordinator handles messages in order: the first `mark` notes were heard before the message
// that it has just answered.
void BufferClient::confirm(std::uint64_t mark) {
  while (!notes_.empty() && notes_said_ - notes_.size() < mark) notes_.pop_front();
}

}  // namespace attune

#include "manager/decider/conversation.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/check.h"
#include "protocol/codec.h"

namespace attune {
namespace {

// The token of a PI of ours: this word and the number of the PI itself. Its PO thus acknowledges
// all commands up to that number.
constexpr std::string_view kToken = "through ";

// As a frame: 2 bytes of code, 14 digits of length, the payload.
std::size_t size_of(const Frame& command) { return command.payload.size() + 16; }

std::optional<std::uint64_t> number_in(const std::string& token) {
  if (!token.starts_with(kToken)) return std::nullopt;
  std::uint64_t number = 0;
  const char* end = token.data() + token.size();
  const auto read = std::from_chars(token.data() + kToken.size(), end, number);
  return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
}

// Whether ping() made the command.
bool is_bookkeeping(const Frame& command) {
  return command.code == "RC" || (command.code == "PI" && command.payload.starts_with(kToken));
}

}  // namespace

Conversation::Conversation(Outbox& outbox, std::optional<Outbox::Left> left)
    : outbox_(outbox), exact_(left.has_value()) {
  if (!left) return;
  counts_ = kept_ = left->counts;
  earlier_ = counts_.commands;
  for (auto& [number, command] : left->commands) {
    untaken_ += size_of(command);
    const bool ours = is_bookkeeping(command);
    ping_open_ = ping_open_ || (ours && command.code == "PI");
    said_since_ping_ += ours ? 0 : 1;
    commands_.push_back(std::move(command));
  }
  // StoreReader::conversation() refuses a store where this does not hold.
  ATTUNE_CHECK(counts_.acknowledged + commands_.size() == counts_.commands);
  taken_ = counts_.acknowledged;
}

std::optional<Outbox::Counts> Conversation::shared() const {
  return exact_ ? std::optional(kept_) : std::nullopt;
}

Result<Conversation::Begun> Conversation::begin(const Initialized& initialized, bool asked) {
  if (asked && initialized.through) return go_on(*initialized.through);
  begin_anew();
  return Begun::anew;
}

Result<Conversation::Begun> Conversation::go_on(std::uint64_t through) {
  if (through < earlier_) leave_out_terminate(through);
  if (through < counts_.acknowledged || through > counts_.commands) {
    return fail(fmt::format(
        "it remembers {} commands of this experiment, and it has {} {}: its journal and "
        "attune.sqlite do not belong together; put both back from one backup, or remove the "
        "journal: then the tuner begins afresh with all results that there are",
        through, through < counts_.acknowledged ? "acknowledged" : "been sent no more than",
        through < counts_.acknowledged ? counts_.acknowledged : counts_.commands));
  }
  taken_ = through;
  untaken_ = 0;
  for (std::uint64_t number = counts_.acknowledged + 1; const Frame& command : commands_) {
    if (number++ > through) untaken_ += size_of(command);
  }
  open_ = met_ = true;
  outbox_.set_counts(counts_);  // before it, the store does not write the RunnerState
  return Begun::exactly;
}

// Removes a Terminate of an earlier manager that the daemon has not read, since it would end the
// new daemon; the commands after it get the numbers from its own on (docs/protocol.md). There are
// such commands if a manager died before its daemon began: it had said them already.
void Conversation::leave_out_terminate(std::uint64_t through) {
  const std::uint64_t heard = std::max(through, counts_.acknowledged);
  if (earlier_ <= heard) return;
  const auto place = [&](std::uint64_t number) {
    return commands_.begin() + static_cast<std::ptrdiff_t>(number - counts_.acknowledged);
  };
  const auto at = std::find_if(place(heard), place(earlier_),
                               [](const Frame& each) { return each.code == "TE"; });
  if (at == place(earlier_)) return;
  const auto number = counts_.acknowledged + static_cast<std::uint64_t>(at - commands_.begin()) + 1;
  std::deque<Frame> later(at + 1, commands_.end());
  commands_.erase(at, commands_.end());
  outbox_.drop(number, counts_.commands);
  counts_.commands = number - 1;
  --earlier_;
  kept_.commands = std::min(kept_.commands, counts_.commands);
  outbox_.set_counts(counts_);
  for (Frame& command : later) append(std::move(command));
}

void Conversation::begin_anew() {
  // At the first daemon, only what this manager has said is said again. At a later one, nothing:
  // the owner tells the new daemon everything.
  const std::size_t said = met_ ? 0 : static_cast<std::size_t>(counts_.commands - earlier_);
  met_ = true;
  commands_.erase(commands_.begin(), commands_.end() - static_cast<std::ptrdiff_t>(said));
  std::deque<Frame> again;
  std::ranges::copy_if(commands_, std::back_inserter(again),
                       [](const Frame& command) { return !is_bookkeeping(command); });
  outbox_.forget();
  commands_.clear();
  counts_ = kept_ = {};
  earlier_ = taken_ = untaken_ = said_since_ping_ = told_answers_ = 0;
  ping_open_ = false;
  open_ = exact_ = true;
  // No set_counts() here: the counts are stored only with the first command or answer. If the
  // manager is killed before that, the store has no conversation, and the next manager tells its
  // daemon everything. Stored counts of 0 would let a daemon that knows nothing continue "exactly".
  for (Frame& command : again) say(std::move(command));
}

void Conversation::append(Frame command) {
  outbox_.append(++counts_.commands, command);
  outbox_.set_counts(counts_);
  untaken_ += size_of(command);
  commands_.push_back(std::move(command));
}

void Conversation::say(Frame command) {
  append(std::move(command));
  if (++said_since_ping_ >= kPingEvery) ping();
}

void Conversation::ping() {
  if (!wants_ping()) return;
  said_since_ping_ = 0;
  ping_open_ = true;
  if (counts_.answers > told_answers_) {
    told_answers_ = counts_.answers;
    append(encode(Received{counts_.answers}));
  }
  append(encode(Ping{fmt::format("{}{}", kToken, counts_.commands + 1)}));
}

void Conversation::heard() {
  ++counts_.answers;
  outbox_.set_counts(counts_);
}

bool Conversation::acknowledged(const Pong& pong) {
  const auto number = number_in(pong.token);
  if (!number) return false;
  ping_open_ = false;
  // Ignored above taken_: this daemon has not been sent so many commands.
  if (*number <= counts_.acknowledged || *number > taken_) return true;
  const auto count = static_cast<std::ptrdiff_t>(*number - counts_.acknowledged);
  commands_.erase(commands_.begin(), commands_.begin() + count);
  outbox_.drop(counts_.acknowledged + 1, *number);
  counts_.acknowledged = *number;
  outbox_.set_counts(counts_);
  return true;
}

std::optional<Frame> Conversation::take() {
  if (!open_ || taken_ >= kept_.commands) return std::nullopt;
  const Frame& next = commands_.at(static_cast<std::size_t>(taken_ - counts_.acknowledged));
  ++taken_;
  untaken_ -= size_of(next);
  return next;
}

}  // namespace attune

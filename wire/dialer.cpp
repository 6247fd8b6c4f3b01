#include "wire/dialer.h"

#include <fmt/format.h>

#include <optional>
#include <tuple>
#include <utility>  // Boost 1.74's Asio forgets it

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "base/backoff.h"
#include "base/check.h"
#include "wire/address_file.h"
#include "wire/dial_attempt.h"

namespace attune {

namespace asio = boost::asio;
using boost::system::error_code;
using std::chrono::milliseconds;

class Dialer::State : public std::enable_shared_from_this<State> {
 public:
  State(asio::io_context& io, DialerOptions options, Identity self, const Rng& rng,
        Handlers handlers)
      : io_(io),
        options_(std::move(options)),
        self_(std::move(self)),
        backoff_(options_.first_pause, options_.longest_pause, rng),
        handlers_(std::move(handlers)),
        pause_timer_(io) {}

  void dial() {
    if (std::exchange(dialling_, true)) return;
    wait(std::exchange(dialled_, true) ? backoff_.next() : milliseconds(0));
  }

  void stop() {
    ++life_;
    dialling_ = false;
    error_code ignored;
    std::ignore = pause_timer_.cancel(ignored);
    attempt_.reset();
    refused_.reset();
    backoff_.reset();
  }

 private:
  void wait(milliseconds pause) {
    refused_rest_ -= pause;
    pause_timer_.expires_after(pause);
    pause_timer_.async_wait([self = shared_from_this(), life = ++life_](error_code cancelled) {
      if (!cancelled && self->goes_on(life)) self->attempt();
    });
  }
  // False if somebody has called stop() or dial() since `life` was noted.
  bool goes_on(std::uint64_t life) const { return dialling_ && life == life_; }

  void attempt() {
    const auto target = find_target();
    if (!target) return failed(target.error().message, DialState::waiting);
    // The same coordinator would refuse again. But the file may name another one at any time, so it
    // is read again after the usual pause.
    if (refused_ == *target && refused_rest_.count() > 0) return wait(backoff_.next());
    target_ = *target;
    const auto life = life_;
    tell(DialState::connecting, "connecting to " + target_->address);
    if (!goes_on(life)) return;
    json hello = {{"type", "hello"}};
    hello.update(handlers_.hello());
    if (!goes_on(life)) return;
    attempt_ = std::make_unique<DialAttempt>(
        io_, target_->address, self_, target_->secret, std::move(hello), options_.connection,
        options_.try_for, [weak = weak_from_this()](DialAttempt::Outcome outcome) {
          if (const auto self = weak.lock()) self->finish(std::move(outcome));
        });
  }

  Result<WireAddress> find_target() const {
    if (options_.file.empty()) {
      const Secret secret = options_.secret
                                ? *options_.secret
                                : TRY(read_secret_file(options_.secret_file, self_.role));
      return WireAddress{options_.address, self_.role, secret};
    }
    auto found = read_address_file(options_.file);
    if (found && found->role != self_.role)
      return fail(
          fmt::format("{} is for the role {}, not for {}", options_.file, found->role, self_.role));
    return found;
  }

  void finish(DialAttempt::Outcome outcome) {
    attempt_.reset();
    if (!outcome.connection) {
      if (!outcome.final) return failed(outcome.reason, DialState::waiting);
      refused_ = target_;
      refused_rest_ = options_.refused_pause;
      return failed(outcome.reason, DialState::refused);
    }
    dialling_ = false;
    backoff_.reset();
    refused_.reset();
    const auto life = life_;
    tell(DialState::connected, "connected to " + target_->address);
    if (life != life_) return;
    handlers_.on_connected(std::move(outcome.connection), std::move(outcome.welcome));
  }

  void failed(const std::string& reason, DialState state) {
    wait(backoff_.next());
    tell(state, reason);
  }

  void tell(DialState state, const std::string& reason) {
    if (handlers_.on_state) handlers_.on_state(state, reason);
  }

  asio::io_context& io_;
  const DialerOptions options_;
  const Identity self_;
  Backoff backoff_;
  const Handlers handlers_;
  asio::steady_timer pause_timer_;
  std::unique_ptr<DialAttempt> attempt_;
  std::optional<WireAddress> target_;   // of the present attempt
  std::optional<WireAddress> refused_;  // address and secret of the last final refusal
  milliseconds refused_rest_{0};        // what is left of `refused_pause`
  bool dialling_ = false, dialled_ = false;
  std::uint64_t life_ = 0;  // counts the waits and stops
};

Dialer::Dialer(asio::io_context& io, DialerOptions options, Identity self, const Rng& rng,
               Handlers handlers) {
  ATTUNE_CHECK(!options.file.empty() || options.secret || !options.secret_file.empty());
  state_ =
      std::make_shared<State>(io, std::move(options), std::move(self), rng, std::move(handlers));
}
Dialer::~Dialer() { state_->stop(); }

void Dialer::dial() { state_->dial(); }
void Dialer::stop() { state_->stop(); }

}  // namespace attune

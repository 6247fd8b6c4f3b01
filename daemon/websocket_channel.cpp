#include "daemon/websocket_channel.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>

#include "daemon/websocket_connection.h"
#include "protocol/message.h"

namespace attune {
namespace {

namespace asio = boost::asio;
using std::chrono::milliseconds;
using Failure = WebSocketConnection::Failure;

// What a queued frame costs beside its payload.
constexpr std::size_t kFrameOverhead = 64;

class WebSocketChannel final : public Channel {
 public:
  WebSocketChannel(asio::io_context& io, WebSocketUrl url, WebSocketOptions options, Log log)
      : io_(io),
        url_(std::move(url)),
        options_(std::move(options)),
        log_(std::move(log)),
        pause_(io),
        deadline_(io) {}

  void start(ChannelEvents& events) override {
    events_ = &events;
    set_deadline(options_.connect_for);
    connect();
  }

  void receive() override {
    wanted_ = true;
    if (!inbox_.empty() || end_) asio::post(io_, [this] { tell(); });
  }

  Result<std::optional<Frame>> next() override {
    if (inbox_.empty()) return std::nullopt;
    auto frame = std::move(inbox_.front());
    inbox_.pop_front();
    if (!frame) return std::unexpected(frame.error());
    ahead_ -= frame->payload.size() + kFrameOverhead;
    read();
    return *std::move(frame);
  }

  void stop_receiving() override {
    stopped_ = true;
    wanted_ = false;
    inbox_.clear();
    ahead_ = 0;
    // Nobody to wait for: what was queued for a manager that may come back is given up.
    if (state_ == State::connecting) gone();
    read();  // or the answer to our close would never be seen
  }

  Result<void> send(const Frame& frame) override {
    if (state_ == State::gone) return {};
    if (frame.payload.size() > options_.max_payload) {
      return fail(fmt::format("{}: a payload of {} bytes is over the limit of {}", frame.code,
                              frame.payload.size(), options_.max_payload));
    }
    backlog_ += frame.payload.size() + kFrameOverhead;
    outbox_.push_back(frame);
    write();
    return {};
  }

  std::size_t backlog() const override { return backlog_; }

  bool close() override {
    if (!closing_) {
      closing_ = true;
      if (dialect_ == Dialect::v3 && !bye_) outbox_.push_back({std::string(kBye), ""});
      write();
    }
    return state_ == State::gone;
  }

 private:
  enum class State { connecting, open, gone };

  // ---- connecting

  void connect() {
    std::erase_if(dropped_, [](const auto& connection) { return connection->idle(); });
    connection_ = std::make_unique<WebSocketConnection>(io_, options_.max_payload);
    connection_->connect(url_, [this](const Failure* failure) {
      if (failure) {
        try_failed(*failure);
      } else {
        connected();
      }
    });
  }

  void connected() {
    deadline_.cancel();
    log_.info("connected {}to {}", dialect_ ? "again " : "", url_.text);
    state_ = State::open;
    read();
    write();
  }

  void connect_after(milliseconds rest) {
    pause_.expires_after(rest);
    pause_.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled || state_ != State::connecting) return;
      if (dialect_) set_deadline(options_.try_for);
      connect();
    });
  }

  void set_deadline(milliseconds time) {
    deadline_.expires_after(time);
    deadline_.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled || state_ != State::connecting) return;
      if (dialect_) return try_failed({"no answer"});
      give_up(last_failure_.empty() ? "no answer" : last_failure_);
    });
  }

  void try_failed(const Failure& failure) {
    last_failure_ = failure.what;
    drop_connection();
    log_.debug("connecting to {}: {}", url_.text, failure.what);
    if (failure.final) return give_up(failure.what);
    if (!dialect_) return connect_after(options_.connect_pause);
    deadline_.cancel();
    next_try();
  }

  void next_try() {
    if (tries_ == options_.pauses.size()) return give_up(last_failure_);
    connect_after(options_.pauses[tries_++]);
  }

  void give_up(const std::string& why) {
    if (dialect_) {
      log_.error("the connection to {} is lost, {} tries to make it again failed: {}", url_.text,
                 tries_, why);
      end(kExitOk);
    } else {
      log_.error(
          "cannot connect to {}: {}; an experiment manager of NNI 2.8 or later listens there, at "
          "the URL that it gives in NNI_TUNER_COMMAND_CHANNEL (or --channel): is it running?",
          url_.text, why);
      end(kExitConfiguration);
    }
    gone();
  }

  // ---- messages

  // Reads on while there is room, also when nobody asks: a ping is answered by a read only.
  void read() {
    if (state_ != State::open || reading_ || unreadable_) return;
    if (ahead_ >= options_.max_ahead) return;
    reading_ = true;
    connection_->read([this](const Failure* failure, const WebSocketConnection::Message& message) {
      reading_ = false;
      if (failure) return lost(*failure);
      take(message);
      read();
      tell();
    });
  }

  void take(const WebSocketConnection::Message& message) {
    tries_ = 0;
    ++messages_;
    if (message.too_large) {
      unreadable_ = true;
      keep(
          fail(fmt::format("message {} is over the limit of {} bytes (--max-payload); its first "
                           "bytes: '{}'",
                           messages_, options_.max_payload, printable(message.data))));
      return;
    }
    if (!message.is_text) return ignore(message.data, "binary, text is expected");
    if (!dialect_ && !message.data.empty()) {
      dialect_ = dialect_of(message.data);
      log_.info("the manager speaks as {}",
                dialect_ == Dialect::v3 ? "NNI 3.0" : "NNI 2.8 to 2.10");
    }
    auto frame = decode_message(dialect_.value_or(Dialect::v2), message.data);
    if (!frame) return ignore(message.data, frame.error().message);
    if (frame->code == kNop) return;
    if (frame->code == kBye) {
      log_.info("end of input: the manager says good-bye");
      bye_ = true;
      end(kExitOk);
      return;
    }
    keep(*std::move(frame));
  }

  void ignore(std::string_view message, std::string_view why) {
    log_.error("message {} of {} bytes ignored: {}; its first bytes: '{}'", messages_,
               message.size(), why, printable(message));
  }

  void keep(Result<Frame> frame) {
    if (stopped_) return;
    if (frame) ahead_ += frame->payload.size() + kFrameOverhead;
    inbox_.push_back(std::move(frame));
  }

  // Gives the server what it waits for.
  void tell() {
    if (!wanted_) return;
    if (!inbox_.empty()) {
      wanted_ = false;
      events_->on_input();
    } else if (end_) {
      wanted_ = false;
      events_->on_end(*end_);
    }
  }

  void write() {
    if (state_ != State::open || writing_) return;
    if (outbox_.empty() || !dialect_) {
      if (closing_) say_good_bye();
      return;
    }
    writing_ = true;
    connection_->write(encode_message(*dialect_, outbox_.front()), [this](const Failure* failure) {
      writing_ = false;
      if (failure) return lost(*failure);
      const Frame& frame = outbox_.front();
      if (frame.code != kBye) backlog_ -= frame.payload.size() + kFrameOverhead;
      outbox_.pop_front();
      write();
      events_->on_output();
    });
  }

  // ---- the end

  void say_good_bye() {
    if (closed_) return;
    closed_ = true;
    const bool v3 = dialect_ == Dialect::v3;
    auto done = [this] { gone(); };
    connection_->close(v3 ? 4000 : 1000, v3 ? "client intentionally close" : "",
                       [done](const Failure*) { done(); });
    deadline_.expires_after(options_.close_for);
    deadline_.async_wait([done](const boost::system::error_code& cancelled) {
      if (!cancelled) done();
    });
  }

  // The connection has ended, by itself or by the other side.
  void lost(const Failure& failure) {
    drop_connection();
    if (dialect_ == Dialect::v3 && !failure.final && !bye_ && !stopped_) {
      log_.warning("the connection to {} is lost: {}; connecting again", url_.text, failure.what);
      last_failure_ = failure.what;
      state_ = State::connecting;
      return next_try();
    }
    if (failure.final) {
      log_.error("the manager breaks the WebSocket protocol: {}", failure.what);
    } else if (!end_ && !stopped_) {
      log_.info("end of input: {}", failure.what);
    }
    end(failure.final ? kExitProtocol : kExitOk);
    gone();
  }

  void end(ExitCode code) {
    if (end_) return;
    end_ = code;
    // Later, for this may be in the middle of something.
    asio::post(io_, [this] { tell(); });
  }

  void drop_connection() {
    if (!connection_) return;
    connection_->drop();
    dropped_.push_back(std::move(connection_));
    reading_ = writing_ = false;
  }

  // Nobody is there any more, or ever was: answers are dropped from now on.
  void gone() {
    state_ = State::gone;
    drop_connection();
    pause_.cancel();
    deadline_.cancel();
    outbox_.clear();
    backlog_ = 0;
    // Later, for this may be in the middle of something.
    asio::post(io_, [this] { events_->on_output(); });
  }

  asio::io_context& io_;
  const WebSocketUrl url_;
  const WebSocketOptions options_;
  Log log_;
  ChannelEvents* events_ = nullptr;

  State state_ = State::connecting;
  asio::steady_timer pause_, deadline_;
  std::size_t tries_ = 0;  // to connect again, since the last message
  std::string last_failure_;
  std::unique_ptr<WebSocketConnection> connection_;            // none between two tries
  std::vector<std::unique_ptr<WebSocketConnection>> dropped_;  // until they are idle

  std::optional<Dialect> dialect_;  // since the first message; it was connected, then
  std::uint64_t messages_ = 0;
  std::deque<Result<Frame>> inbox_;
  std::size_t ahead_ = 0;  // bytes in inbox_
  bool reading_ = false;   // a read is under way
  bool wanted_ = false;    // the server waits for input
  bool unreadable_ = false;
  bool bye_ = false;      // the manager has gone on purpose
  bool stopped_ = false;  // the server wants no more input
  std::optional<ExitCode> end_;

  std::deque<Frame> outbox_;  // the first one is being written while writing_
  std::size_t backlog_ = 0;   // bytes in outbox_
  bool writing_ = false;
  bool closing_ = false, closed_ = false;  // asked for, begun
};

}  // namespace

std::unique_ptr<Channel> make_websocket_channel(asio::io_context& io, WebSocketUrl url,
                                                WebSocketOptions options, Log log) {
  return std::make_unique<WebSocketChannel>(io, std::move(url), std::move(options), std::move(log));
}

}  // namespace attune

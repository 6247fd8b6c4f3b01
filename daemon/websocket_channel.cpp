#include "daemon/websocket_channel.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <deque>

#include "daemon/manager_process.h"
#include "daemon/websocket_connection.h"
#include "protocol/codec.h"
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
  WebSocketChannel(asio::io_context& io, WebSocketUrl url, WebSocketOptions options,
                   UniqueFd manager, Log log)
      : io_(io),
        url_(std::move(url)),
        options_(std::move(options)),
        log_(std::move(log)),
        pause_(io),
        deadline_(io),
        manager_(io, std::move(manager)) {}

  void open() override {
    // The end of the manager's process matters only while there is no connection: the next one
    // could be made to another process that listens there by then.
    manager_.await_end([this] {
      if (state_ == State::connecting) on_manager_end();
    });
    set_deadline(options_.connect_for);
    connect();
  }

  void attach(ChannelEvents& events) override { events_ = &events; }

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
    read();  // or pings would not be answered, nor the answer to our close be seen
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

  bool close(Parting how) override {
    if (!closing_) {
      closing_ = true;
      staying_ = how == Parting::failed && !terminated_ && !bye_;
      if (staying_) log_.info("staying connected until the manager ends or says Terminate");
      // While the first connection is being made, this goes on connecting, because the manager must
      // hear of a failure. It does not connect again for that.
      const bool nobody = state_ == State::connecting && (!staying_ || dialect_);
      if (nobody) gone();
      if (!staying_) part();
      write();
    }
    return state_ == State::gone;
  }

 private:
  enum class State { connecting, open, gone };

  // ---- connecting

  void connect() {
    if (manager_.has_ended()) return on_manager_end();
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
    if (manager_.has_ended()) return on_manager_end();
    deadline_.cancel();
    ++connections_;
    log_.info("connected {}to {}", dialect_ ? "again " : "", url_.text);
    state_ = State::open;
    read();
    write();
  }

  void connect_after(milliseconds rest) {
    pause_.expires_after(rest);
    pause_.async_wait([this](const boost::system::error_code& cancelled) {
      if (cancelled || state_ != State::connecting) return;
      // The first connection has one deadline for all tries; to connect again each try has its own.
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

  void on_manager_end() {
    log_.info("end of input: the process of the manager has ended");
    end(kExitOk);
    gone();
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
    if (state_ != State::open || reading_ || (unreadable_ && !stopped_)) return;
    if (ahead_ >= options_.max_ahead) return;
    reading_ = true;
    connection_->read([this](const Failure* failure, const WebSocketConnection::Message& message) {
      reading_ = false;
      if (failure) return lost(*failure);
      take(message);
      read();
      write();  // what waited for the dialect, or for Terminate
      tell();
    });
  }

  void take(const WebSocketConnection::Message& message) {
    // The connection works: after the next loss all tries count anew.
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
      staying_ = false;
      end(kExitOk);
      return;
    }
    if (frame->code == code_of(Terminate{})) {
      terminated_ = true;
      if (staying_) part();
    }
    if (frame->code == code_of(Initialize{})) {
      if (initialized_on_ > 0 && initialized_on_ != connections_) return on_other_manager();
      initialized_on_ = connections_;
    }
    keep(*std::move(frame));
  }

  // The manager that initialized this daemon would continue without a second Initialize.
  void on_other_manager() {
    log_.error("another manager listens at {}: it says Initialize to a connection made again",
               url_.text);
    end(kExitOk);
    gone();
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

  // Sends the event that answers receive(), if there is anything to tell.
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
    // The manager's first message decides the form of ours, so nothing is written before it.
    if (outbox_.empty() || !dialect_) {
      if (closing_ && !staying_) say_good_bye();
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
      if (events_) events_->on_output();
    });
  }

  // ---- the end

  // From here on the connection may be closed, when all is written.
  void part() {
    staying_ = false;
    if (dialect_ == Dialect::v3 && !bye_) outbox_.push_back({std::string(kBye), ""});
  }

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
      if (manager_.has_ended()) return on_manager_end();
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
    // Posted, as in gone(): no event may come from inside a call into the channel.
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
    asio::post(io_, [this] {
      if (events_) events_->on_output();
    });
  }

  asio::io_context& io_;
  const WebSocketUrl url_;
  const WebSocketOptions options_;
  Log log_;
  ChannelEvents* events_ = nullptr;  // none until attach()

  State state_ = State::connecting;
  asio::steady_timer pause_, deadline_;
  ManagerProcess manager_;
  int connections_ = 0;     // made so far
  int initialized_on_ = 0;  // the connection that brought Initialize; 0: none yet
  std::size_t tries_ = 0;   // to connect again, since the last message
  std::string last_failure_;
  std::unique_ptr<WebSocketConnection> connection_;            // none between two tries
  std::vector<std::unique_ptr<WebSocketConnection>> dropped_;  // until they are idle

  std::optional<Dialect> dialect_;  // set by the first message; none: no message has come yet
  std::uint64_t messages_ = 0;
  std::deque<Result<Frame>> inbox_;
  std::size_t ahead_ = 0;  // bytes in inbox_
  bool reading_ = false;   // a read is under way
  bool wanted_ = false;    // the server waits for input
  bool unreadable_ = false;
  bool bye_ = false;         // the manager has gone on purpose
  bool terminated_ = false;  // it has said Terminate
  bool stopped_ = false;     // the server wants no more input
  std::optional<ExitCode> end_;

  std::deque<Frame> outbox_;  // the first one is being written while writing_
  std::size_t backlog_ = 0;   // bytes in outbox_
  bool writing_ = false;
  bool closing_ = false, closed_ = false;  // asked for, begun
  bool staying_ = false;                   // until the manager has ended
};

}  // namespace

std::unique_ptr<Channel> make_websocket_channel(asio::io_context& io, WebSocketUrl url,
                                                WebSocketOptions options, UniqueFd manager,
                                                Log log) {
  return std::make_unique<WebSocketChannel>(io, std::move(url), std::move(options),
                                            std::move(manager), std::move(log));
}

}  // namespace attune

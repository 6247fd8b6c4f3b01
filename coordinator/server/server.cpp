#include "coordinator/server/server.h"

#include <boost/asio/post.hpp>

#include "base/address_file.h"
#include "coordinator/server/server_impl.h"

namespace attune {
namespace {

// So much waits for the disk at most, before nobody is listened to any more.
constexpr std::size_t kMostHeldBack = 100'000;

constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kFarewell{3};

}  // namespace

// ---- beginning

Result<void> CoordinatorServer::Impl::begin(FileSystem& files, const MakeOperator& make_operator) {
  const std::string address_path = (options_.directory / kAddressFile).string();
  const auto former = read_address_file(address_path);
  Ledger::Options ledger;
  ledger.path = (options_.directory / kCoordinatorJournal).string();
  ledger.durability = options_.durability;
  const Ledger::Readers readers{
      [this](const json& state) -> Result<void> {
        TRY(coordinator_.load(state));
        return buffers_.load(state.contains("buffers") ? state["buffers"] : json::object());
      },
      [this](const json& record) { return replay(record); }};
  ledger_ = TRY(Ledger::open(
      files, ledger, readers,
      [this, alive = std::weak_ptr(alive_)] {  // from a helper thread
        boost::asio::post(io_, [this, alive] {
          if (!alive.expired()) settle();
        });
      },
      log_));
  ListenerOptions listening;
  listening.address = options_.listen;
  // Those who were there before know the former one.
  listening.token = ledger_->had_records() && former ? former->token : options_.token;
  listening.connection.ping = options_.ping;
  listening.connection.silence = options_.silence;
  listener_ = TRY(Listener::listen(
      io_, listening,
      [this](std::unique_ptr<Connection> connection, const json& message) {
        hello(std::move(connection), message);
      },
      log_));
  live_ = true;
  coordinator_.begin(now());
  TRY(write_address_file(address_path, {address(), listening.token}));
  log_.info("coordinator {} listens on {}", coordinator_.board().epoch(), listens_on());
  if (make_operator) seat_.take(make_operator(seat_));
  settle();
  return {};
}

Result<void> CoordinatorServer::Impl::replay(const json& record) {
  if (record.is_object() && record.contains("buffer")) return buffers_.replay(record);
  const Record edge = TRY(record_from_json(record));
  return coordinator_.replay(edge);
}

json CoordinatorServer::Impl::save() const {
  json state = coordinator_.save();
  state["buffers"] = buffers_.save();
  return state;
}

// ---- what is said to them

void CoordinatorServer::Impl::to(Role role, const std::string& name, json message) {
  when_durable(
      [this, role, name, message = std::move(message)] { sessions_.say(role, name, message); });
}

void CoordinatorServer::Impl::say(SessionId id, json message) {
  when_durable([this, id, message = std::move(message)] { sessions_.say(id, message); });
}

void CoordinatorServer::Impl::await_farewell(int more) {
  patience_.expires_after(kFarewell);
  patience_.async_wait([this, more](const boost::system::error_code& error) {
    if (error || !on_finished_) return;
    if (more > 0 && seat_.needs_time()) return await_farewell(more - 1);
    std::exchange(on_finished_, nullptr)();
  });
}

// Workers that hear it go; those that do not have nothing to do here any more either.
void CoordinatorServer::Impl::say_goodbye() {
  if (!std::exchange(parting_, true)) {
    sessions_.say_to_all(Role::worker, {{"type", "drain"}});
    await_farewell(2);
  }
  if (sessions_.none_are(Role::worker) && !seat_.needs_time())
    boost::asio::post(io_, std::exchange(on_finished_, nullptr));
}

// After all that one turn of the event loop brings: one write for all.
void CoordinatorServer::Impl::settle_soon() {
  if (std::exchange(settling_, true)) return;
  boost::asio::post(io_, [this, alive = std::weak_ptr(alive_)] {
    if (!alive.expired()) settle();
  });
}

void CoordinatorServer::Impl::settle() {
  settling_ = false;
  seat_.show();
  ledger_->poll();
  ledger_->snapshot_if_due([this] { return save(); });
  ledger_->flush();
  held_back_.release(ledger_->durable());
  sessions_.slow_down(ledger_->full() || held_back_.size() > kMostHeldBack);
  await_deadline();
  if (ledger_->needs_tick()) await_second();
  if (coordinator_.finished() && on_finished_) say_goodbye();
}

// ---- time

void CoordinatorServer::Impl::await_deadline() {
  auto next = coordinator_.next_time();
  if (const auto also = seat_.next_time()) next = std::min(next.value_or(*also), *also);
  if (next == armed_) return;
  armed_ = next;
  alarm_.cancel();
  if (!next) return;
  constexpr double kLongest = 86'400;  // limits may be centuries, which are too many nanoseconds
  alarm_.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::clamp(*next - now(), 0.0, kLongest))));
  alarm_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    armed_.reset();
    coordinator_.tick(now());
    seat_.tick();
    settle();
  });
}

void CoordinatorServer::Impl::await_second() {
  if (std::exchange(ticking_, true)) return;
  second_.expires_after(kTick);
  second_.async_wait([this](const boost::system::error_code& error) {
    if (error) return;
    ticking_ = false;
    const bool trouble = !ledger_->trouble().empty();
    ledger_->tick();
    if (!ledger_->trouble().empty() && !trouble)
      log_.error("nothing new is remembered, and nothing begins: {}", ledger_->trouble());
    settle();
  });
}

// ---- the class that others see

CoordinatorServer::CoordinatorServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CoordinatorServer::~CoordinatorServer() = default;

Result<std::unique_ptr<CoordinatorServer>> CoordinatorServer::create(
    boost::asio::io_context& io, FileSystem& files, const Clock& clock, ServerOptions options,
    std::unique_ptr<Commander> commander, Log log, std::function<void()> on_finished,
    const MakeOperator& make_operator) {
  auto impl = std::make_unique<Impl>(io, clock, std::move(options), std::move(commander),
                                     std::move(log), std::move(on_finished));
  TRY(impl->begin(files, make_operator));
  return std::unique_ptr<CoordinatorServer>(new CoordinatorServer(std::move(impl)));
}

const std::string& CoordinatorServer::address() const { return impl_->listens_on(); }
bool CoordinatorServer::idle() const { return impl_->idle(); }
bool CoordinatorServer::went_on() const { return impl_->went_on(); }
const Coordinator& CoordinatorServer::coordinator() const { return impl_->coordinator(); }
void CoordinatorServer::finish(const std::string& cause) { impl_->finish(cause); }
Result<void> CoordinatorServer::close() { return impl_->close(); }

}  // namespace attune

#include "cluster/pool/server/server.h"

#include <fmt/format.h>

#include <boost/asio/post.hpp>

#include "cluster/pool/server/server_impl.h"
#include "cluster/pool/server/server_time.h"
#include "wire/address_file.h"

namespace attune {
namespace {

// If more messages than this wait for the disk, the server stops reading what its peers say.
constexpr std::size_t kMostHeldBack = 100'000;

constexpr std::chrono::seconds kTick{1};
constexpr std::chrono::seconds kFarewell{3};

}  // namespace

// ---- beginning

Result<void> CoordinatorServer::Impl::begin(FileSystem& files, Ledger::Former former,
                                            const MakeOperator& make_operator) {
  // Listens first: a coordinator that cannot listen must not change the journal.
  ListenerOptions listening;
  listening.address = options_.listen;
  // New secrets at each start: copies of former ones lose their right.
  for (const RoleFile& each : kRoleFiles) listening.secrets.emplace(each.role, Secret::draw());
  listening.connection.ping = options_.ping;
  listening.connection.silence = options_.silence;
  listener_ = TRY(Listener::listen(
      io_, listening,
      [this](std::unique_ptr<Connection> connection, const Identity& who, const json& message) {
        hello(std::move(connection), who, message);
      },
      log_));
  const Ledger::Readers readers{
      [this](const json& state) -> Result<void> {
        TRY(coordinator_.load(state));
        return buffers_->load(state.contains("buffers") ? state["buffers"] : json::object());
      },
      [this](const json& record) { return replay(record); }};
  ledger_ = TRY(Ledger::open(
      files, ledger_options(options_), std::move(former), seed_, readers,
      // Called by a helper thread, which ends before this object does.
      [this, settle = while_alive([this] { this->settle(); })] { boost::asio::post(io_, settle); },
      log_));
  if (coordinator_.over())
    return fail(fmt::format("the run in {} is over: name another folder, or move this one away",
                            options_.directory.string()));
  double newest = 0;
  for (const auto& [id, task] : coordinator_.board().tasks())
    newest = std::max({newest, task.since, task.heard});
  began_time_ = TRY(time_at_begin(options_.directory, clock_, present_boot(), newest));
  began_ = clock_.now();
  live_ = true;
  coordinator_.begin(now());
  secrets_ = listening.secrets;
  for (const RoleFile& each : kRoleFiles) TRY(write_role_file(each));
  log_.info("coordinator {} listens on {}", coordinator_.board().epoch(), listens_on());
  if (make_operator) seat_.take(make_operator(seat_));
  keep_address();
  settle();
  return {};
}

Result<void> CoordinatorServer::Impl::write_role_file(const RoleFile& file) const {
  const std::string role(file.role);
  return write_address_file(role_file(options_.directory, role).string(),
                            {address(), role, secrets_.at(role)});
}

// If a role file was deleted, writes it again, and its folder if need be, so that workers and
// clients can reconnect. A file that exists stays: it may be another coordinator's by now.
void CoordinatorServer::Impl::keep_address() {
  look_.expires_after(options_.look);
  look_.async_wait(while_alive([this](const boost::system::error_code& error) {
    if (error) return;
    for (const RoleFile& each : kRoleFiles) {
      const std::filesystem::path path = role_file(options_.directory, each.role);
      std::error_code none;
      if (std::filesystem::exists(path, none) || none || !ledger_->trouble().empty()) continue;
      std::filesystem::create_directories(options_.directory, none);
      const auto written = write_role_file(each);
      log_.warning("{} was gone, and {}", path.string(),
                   written ? "is written again" : "cannot be written: " + written.error().message);
    }
    keep_address();
  }));
}

Result<void> CoordinatorServer::Impl::replay(const json& record) {
  if (record.is_object() && record.contains("buffer")) return buffers_->replay(record);
  const Record edge = TRY(record_from_json(record));
  return coordinator_.replay(edge);
}

json CoordinatorServer::Impl::save() const {
  json state = coordinator_.save();
  state["buffers"] = buffers_->save();
  return state;
}

// ---- what is said to them

// For tasks of the commander, which have no client: tells the user why a task waits, as a manager
// would be told. The same reason is told once in a row, of whatever task.
void CoordinatorServer::Impl::tell_waiting(const Task& task) {
  if (task.state != TaskState::queued || !options_.on_task_event) return;
  const std::string why = task.waits_for.empty() ? task.obstacle : task.waits_for;
  if (why.empty() || why == std::exchange(told_waiting_, why)) return;
  options_.on_task_event(fmt::format("{} waits: {}", task.spec.id, why), {});
}

void CoordinatorServer::Impl::to(Role role, const std::string& name, json message) {
  when_durable(
      [this, role, name, message = std::move(message)] { sessions_.say(role, name, message); });
}

void CoordinatorServer::Impl::say(SessionId id, json message) {
  when_durable([this, id, message = std::move(message)] { sessions_.say(id, message); });
}

// Whether this info is withheld from the task's client. A client that is behind gets no infos, so
// that the messages that wait for it are bounded, and nobody else is slowed down. Nothing is lost:
// workers keep what is not acknowledged, and stop reading what trials report when that becomes too
// much. Once an info of a task was withheld, so are all later ones until catch_up(), so that the
// order stays.
bool CoordinatorServer::Impl::misses(const Task& task) {
  const std::string& client = task.spec.client;
  const auto known = missed_.find(client);
  const bool missed = known != missed_.end() && known->second.contains(task.spec.id);
  if (!missed && !sessions_.is_behind(client)) return false;
  missed_[client].insert(task.spec.id);
  return true;
}

void CoordinatorServer::Impl::catch_up() {
  std::erase_if(missed_, [this](const auto& missed) {
    if (sessions_.is_behind(missed.first)) return false;
    const auto& tasks = coordinator_.board().tasks();
    for (const std::string& id : missed.second) {
      const auto task = tasks.find(id);
      if (task == tasks.end() || is_end(task->second.state)) continue;
      if (task->second.state != TaskState::queued) say_again(task->second);
    }
    return true;
  });
}

void CoordinatorServer::Impl::await_farewell(int more) {
  patience_.expires_after(kFarewell);
  patience_.async_wait(while_alive([this, more](const boost::system::error_code& error) {
    if (error || !on_finished_) return;
    if (more > 0 && seat_.needs_time()) return await_farewell(more - 1);
    std::exchange(on_finished_, nullptr)();
  }));
}

// Tells the workers to leave, and waits for them and for the operator, with a bound
// (await_farewell). A worker that does not hear it has nothing left to do here either.
void CoordinatorServer::Impl::say_goodbye() {
  if (!std::exchange(parting_, true)) {
    sessions_.say_to_all(Role::worker, {{"type", "drain"}});
    await_farewell(2);
  }
  if (sessions_.none_are(Role::worker) && !seat_.needs_time())
    boost::asio::post(io_, std::exchange(on_finished_, nullptr));
}

// Settles once for all events of one turn of the event loop: their records become one write.
void CoordinatorServer::Impl::settle_soon() {
  if (std::exchange(settling_, true)) return;
  boost::asio::post(io_, while_alive([this] { settle(); }));
}

void CoordinatorServer::Impl::settle() {
  settling_ = false;
  catch_up();
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
  constexpr double kLongest = 86'400;  // a limit may be centuries, too many nanoseconds
  alarm_.expires_after(std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::duration<double>(std::clamp(*next - now(), 0.0, kLongest))));
  alarm_.async_wait(while_alive([this](const boost::system::error_code& error) {
    if (error) return;
    armed_.reset();
    coordinator_.tick(now());
    seat_.tick();
    settle();
  }));
}

void CoordinatorServer::Impl::await_second() {
  if (std::exchange(ticking_, true)) return;
  second_.expires_after(kTick);
  second_.async_wait(while_alive([this](const boost::system::error_code& error) {
    if (error) return;
    ticking_ = false;
    const bool trouble = !ledger_->trouble().empty();
    ledger_->tick();
    if (!ledger_->trouble().empty() && !trouble)
      log_.error("nothing new is remembered, and nothing begins: {}", ledger_->trouble());
    settle();
  }));
}

// ---- the class that others see

CoordinatorServer::CoordinatorServer(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
CoordinatorServer::~CoordinatorServer() = default;

Result<std::unique_ptr<CoordinatorServer>> CoordinatorServer::create(
    boost::asio::io_context& io, FileSystem& files, const Clock& clock, ServerOptions options,
    const ServerParts& parts, Log log, std::function<void()> on_finished) {
  const Ledger::Options ledger = Impl::ledger_options(options);
  Ledger::Former former = TRY(Ledger::look(files, ledger));
  // Replaying records repeats the former coordinator's calls. With another seed the draws would
  // differ, and lead to another state.
  const std::uint64_t seed = former.seed.value_or(options.seed.value_or(options.entropy));
  if (options.seed.value_or(seed) != seed)
    return fail(
        fmt::format("{}: it goes on with the seed {}, and not with {}; to begin afresh, "
                    "without the tasks that it knows, move it away",
                    ledger.path, seed, *options.seed));
  std::unique_ptr<Commander> commander;
  if (parts.make_commander) commander = TRY(parts.make_commander(seed));
  auto impl = std::make_unique<Impl>(io, clock, std::move(options), seed, std::move(commander),
                                     parts.make_buffers, std::move(log), std::move(on_finished));
  TRY(impl->begin(files, std::move(former), parts.make_operator));
  return std::unique_ptr<CoordinatorServer>(new CoordinatorServer(std::move(impl)));
}

const std::string& CoordinatorServer::address() const { return impl_->listens_on(); }
bool CoordinatorServer::idle() const { return impl_->idle(); }
bool CoordinatorServer::went_on() const { return impl_->went_on(); }
const Coordinator& CoordinatorServer::coordinator() const { return impl_->coordinator(); }
void CoordinatorServer::finish(const std::string& cause) { impl_->finish(cause); }
Result<void> CoordinatorServer::close() { return impl_->close(); }

}  // namespace attune

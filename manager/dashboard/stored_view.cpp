#include "manager/dashboard/stored_view.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/post.hpp>
#include <future>
#include <iterator>
#include <utility>

#include "manager/cli/commands/failure_causes.h"
#include "manager/cli/commands/searched_space.h"
#include "manager/cli/commands/stored_json.h"
#include "manager/cli/commands/wait_reasons.h"
#include "manager/control/json_format.h"
#include "manager/dashboard/experiment_facts.h"
#include "manager/store/schema.h"
#include "os/private_file.h"
#include "os/trust.h"
#include "wire/secret.h"

namespace attune {
namespace {

constexpr double kSearchSeconds = 5;                // between two searches for new stores
constexpr std::chrono::milliseconds kEndLook{100};  // while another thread works for us
constexpr double kAskSeconds = 1;                   // between two questions to a manager
// What may be done again and again takes at most this share of the time.
constexpr double kShare = 0.1;
constexpr std::int64_t kMostUnfinished = 200, kFailures = 5;  // in one answer
constexpr std::size_t kColumnBytes = 100 << 20;  // of all experiments; one may have more
constexpr std::size_t kFew = 4'096;  // new trials in one event, so that it does not take long

HttpResponse error_answer(const ApiError& error) {
  HttpResponse response = json_answer({{"error", error.message}});
  response.status = error.status;
  return response;
}

// Changes with the row of an experiment; but a manager that runs writes the seconds again and
// again.
std::string mark_of(const StoredExperiment& experiment) {
  const bool runs = experiment.status == ExperimentStatus::running;
  return fmt::format("{} {} {} {} {}", to_text(experiment.status), experiment.runs,
                     runs ? 0 : experiment.seconds, experiment.name, experiment.reason);
}

}  // namespace

StoredView::StoredView(StoredSource& source, std::vector<Route> routes)
    : source_(source), routes_(std::move(routes)) {}

double StoredView::now() const { return source_.clock().wall(); }
Result<void> StoredView::resume(const StoredExperiment& experiment) {
  return source_.resume(experiment);
}

HttpResponse StoredView::answer(const HttpRequest& request) {
  ApiResult done = carry_out(request);
  return done ? *std::move(done) : error_answer(done.error());
}

ApiResult StoredView::carry_out(const HttpRequest& request) {
  RouteMatch match = find_route(routes_, request);
  if (match.route == nullptr) return std::unexpected(ApiError(404, "there is no such address"));
  auto query = query_of(*match.route, request);
  if (!query) return std::unexpected(query.error());
  auto body = body_of(*match.route, request);
  if (!body) return std::unexpected(body.error());
  ApiCall call{*this, std::move(match.names), *std::move(query), *std::move(body)};
  return match.route->call(call);
}

View::Event StoredView::event(const std::string& subject) {
  if (subject.empty()) return {"experiments", "", dump_json(experiments())};
  auto found = find(subject);
  if (!found) return {"failure", "", dump_json({{"error", found.error().message}})};
  const auto state = this->state(*found);
  if (!state) return {"failure", "", dump_json({{"error", state.error().message}})};
  const auto& columns = kept_[subject].columns;
  return {"experiment", columns == nullptr ? "" : columns->cursor(), dump_json(*state)};
}

void StoredView::refresh(bool now) {
  const double time = source_.clock().now();
  // A reader of a file that was replaced would show old data for ever.
  const auto moved =
      std::erase_if(readers_, [](const auto& each) { return each.second.has_moved(); });
  const bool search =
      moved > 0 || (now && time >= search_again_) || time - searched_ >= kSearchSeconds;
  if (!search) return;
  searched_ = time;
  StoreTree tree = find_stores(source_.options().roots);
  problems_ = json::array();
  for (const auto& [path, what] : tree.problems)
    problems_.push_back({{"path", path.string()}, {"error", what}});
  for (const auto& folder : tree.stores) {
    if (readers_.contains(folder)) continue;
    auto reader = open_trusted_store(folder);
    if (!reader) {
      problems_.push_back({{"path", folder.string()}, {"error", reader.error().message}});
      continue;
    }
    readers_.emplace(folder, *std::move(reader));
    source_.follow(folder);
  }
  const double end = source_.clock().now();
  search_again_ = end + (end - time) / kShare;
}

std::expected<StoredView::Found, ApiError> StoredView::find(const std::string& id) {
  refresh(false);
  const auto try_reader = [&](StoreReader& reader) -> std::optional<Found> {
    auto experiment = reader.find(id);
    if (!experiment || experiment->id != id) return std::nullopt;
    homes_[id] = reader.working_directory();
    return Found{reader, *std::move(experiment)};
  };
  for (const bool again : {false, true}) {
    if (again) refresh(true);
    if (const auto home = homes_.find(id); home != homes_.end()) {
      const auto reader = readers_.find(home->second);
      if (reader != readers_.end())
        if (auto found = try_reader(reader->second)) return *std::move(found);
    }
    for (auto& [folder, reader] : readers_)
      if (auto found = try_reader(reader)) return *std::move(found);
  }
  kept_.erase(id);
  return std::unexpected(ApiError(404, fmt::format("there is no experiment {} here", id)));
}

std::expected<StoredView::Found, ApiError> StoredView::find_own(const std::string& id) {
  Found found = TRY(find(id));
  const auto store = check_trusted(found.reader.working_directory() / kStoreFile);
  if (!store) return std::unexpected(ApiError(403, store.error().message));
  const auto folder = check_trusted(found.experiment.directory);
  if (!folder) return std::unexpected(ApiError(403, folder.error().message));
  return found;
}

std::expected<StoredView::Found, ApiError> StoredView::nni_experiment() {
  return find(source_.options().nni_experiment);
}

Result<Tally> StoredView::tally(const Found& found, Kept& kept) {
  kept.complete = false;
  if (kept.columns != nullptr && kept.columns->fits(found.experiment))
    kept.complete = !TRY(kept.columns->update(found.reader, found.experiment, kFew));
  if (kept.complete) return kept.columns->tally();
  return found.reader.tally(found.experiment);
}

Result<json> StoredView::summary(const Found& found, Kept& kept) {
  const std::string mark = mark_of(found.experiment);
  const bool runs = found.experiment.status == ExperimentStatus::running;
  if (runs || kept.mark != mark || !kept.tally) {
    const Tally now = TRY(tally(found, kept));
    const bool same = kept.tally && kept.mark == mark && kept.tally->succeeded == now.succeeded;
    if (!same) kept.best = TRY(best(found, kept));
    kept.tally = now;
    kept.mark = mark;
  }
  json object = experiment_json(found.experiment, *kept.tally, kept.best);
  add_facts(object, found.experiment, now());
  return object;
}

Result<std::optional<BestSoFar>> StoredView::best(const Found& found, Kept& kept) {
  if (!kept.complete || found.experiment.objectives.size() == 1)
    return found.reader.best_so_far(found.experiment);
  const Leaders& leaders = kept.columns->leaders();
  if (leaders.empty()) return std::nullopt;
  return BestSoFar{TRY(found.reader.trial(found.experiment, std::to_string(leaders.best_id()))),
                   leaders.best().violation, leaders.trade_offs()};
}

json StoredView::experiments() {
  refresh(false);
  json list = json::array();
  json problems = problems_;
  for (auto& [folder, reader] : readers_) {
    auto all = reader.experiments();
    Result<void> failed = {};
    if (!all) failed = std::unexpected(all.error());
    for (std::size_t i = 0; all && i < all->size(); ++i) {
      const Found found{reader, (*all)[i]};
      auto object = summary(found, kept_[found.experiment.id]);
      if (object) {
        list.push_back(*std::move(object));
      } else {
        failed = std::unexpected(object.error());
      }
    }
    if (!failed) problems.push_back({{"path", folder.string()}, {"error", failed.error().message}});
  }
  return with_format({{"experiments", list}, {"problems", problems}});
}

Result<void> StoredView::read_failures(const Found& found, Kept& kept) {
  std::string mark = fmt::format("{} {}", kept.tally->failed, kept.mark);
  const double begin = source_.clock().now();
  if (mark == kept.failures_mark || begin < kept.count_failures_again) return {};
  TrialFilter filter;
  filter.statuses = {TrialStatus::failed};
  filter.order = TrialFilter::Order::newest;
  filter.limit = kFailures;
  kept.last_failures = json::array();
  for (const TrialRecord& trial : TRY(found.reader.trials(found.experiment, filter)))
    kept.last_failures.push_back(trial_json(trial, found.experiment.objectives));
  kept.failure_causes = failure_causes_json(TRY(failure_causes(found.reader, found.experiment)));
  kept.failures_mark = std::move(mark);
  const double end = source_.clock().now();
  kept.count_failures_again = end + (end - begin) / kShare;
  return {};
}

Result<std::vector<TrialRecord>> StoredView::unfinished(const Found& found, const Tally& tally) {
  if (tally.pending + tally.running + tally.paused == 0) return std::vector<TrialRecord>();
  TrialFilter filter;
  filter.statuses = {TrialStatus::pending, TrialStatus::running, TrialStatus::paused};
  filter.limit = kMostUnfinished;
  return found.reader.trials(found.experiment, filter);
}

void StoredView::fill_reasons(const StoredExperiment& experiment,
                              std::vector<TrialRecord>& trials) {
  Kept& kept = kept_[experiment.id];
  const auto waits = [](const TrialRecord& trial) { return trial.status == TrialStatus::pending; };
  const double begin = source_.clock().now();
  if (std::ranges::any_of(trials, waits) && begin >= kept.ask_again) {
    kept.reasons = ask_wait_reasons(experiment);
    const double end = source_.clock().now();
    kept.ask_again = end + std::max(kAskSeconds, (end - begin) / kShare);
  }
  fill_wait_reasons(experiment, kept.reasons, trials);
}

Result<json> StoredView::state(const Found& found) {
  Kept& kept = kept_[found.experiment.id];
  json object;
  std::vector<TrialRecord> trials;
  TRY(found.reader.consistently([&]() -> Result<void> {
    object = TRY(summary(found, kept));
    TRY(read_failures(found, kept));
    trials = TRY(unfinished(found, *kept.tally));
    return {};
  }));
  fill_reasons(found.experiment, trials);  // no transaction waits for a manager
  object["unfinished"] = json::array();
  for (const TrialRecord& trial : trials)
    object["unfinished"].push_back(trial_json(trial, found.experiment.objectives));
  const Tally& tally = *kept.tally;
  object["unfinished_count"] = tally.pending + tally.running + tally.paused;
  object["last_failures"] = kept.last_failures;
  object["failure_causes"] = kept.failure_causes;
  return with_format(object);
}

TrialColumns& StoredView::columns(const Found& found) {
  Kept& kept = kept_[found.experiment.id];
  kept.used = ++uses_;
  if (kept.columns == nullptr || !kept.columns->fits(found.experiment)) {
    const std::string epoch = to_hex(draw_bytes()).substr(0, 12);
    kept.columns = std::make_unique<TrialColumns>(
        found.experiment, searched_space(found.experiment).value_or(Space{}), epoch);
    drop_columns();
  }
  return *kept.columns;
}

void StoredView::drop_columns() {
  while (true) {
    std::size_t bytes = 0, count = 0;
    Kept* oldest = nullptr;
    for (auto& [id, kept] : kept_) {
      if (kept.columns == nullptr) continue;
      bytes += kept.columns->bytes();
      ++count;
      if (oldest == nullptr || kept.used < oldest->used) oldest = &kept;
    }
    if (count < 2 || bytes <= kColumnBytes) return;
    oldest->columns = nullptr;
  }
}

StoredSource::StoredSource(boost::asio::io_context& io, const Clock& clock,
                           StoredSourceOptions options)
    : io_(io), clock_(clock), options_(std::move(options)), routes_(all_routes()), timer_(io) {
  if (!options_.nni_experiment.empty()) {
    std::ranges::move(nni_reading::routes(), std::back_inserter(routes_));
    std::ranges::move(nni_changing::routes(), std::back_inserter(routes_));
  }
  auto files = FileWatch::create(io, [this](int) {
    if (changed_) changed_("");
  });
  if (files) files_ = *std::move(files);
  look_again();
}

StoredSource::~StoredSource() {
  *alive_ = false;
  for (const auto& manager : managers_) manager->leave();
}

CallKind StoredSource::kind(const HttpRequest& request) const {
  const RouteMatch match = find_route(routes_, request);
  if (match.route == nullptr) return {.known = match.known, .hidden = match.hidden};
  return {.known = true,
          .allowed = true,
          .changes = match.route->changes,
          .heavy = match.route->heavy,
          .hidden = match.route->hidden};
}

std::unique_ptr<View> StoredSource::view() { return std::make_unique<StoredView>(*this, routes_); }

void StoredSource::watch(OnChange changed) { changed_ = std::move(changed); }

void StoredSource::follow(const std::filesystem::path& working_directory) {
  boost::asio::post(io_, [this, alive = alive_, working_directory] {
    if (!*alive || files_ == nullptr) return;
    struct stat now = {};
    if (::stat((working_directory / kStoreFile).c_str(), &now) != 0) return;
    const auto former = followed_.find(working_directory);
    const bool known = former != followed_.end();
    if (known && former->second.device == now.st_dev && former->second.inode == now.st_ino) return;
    if (known) files_->remove(former->second.key);
    if (const auto key = files_->add(working_directory / kStoreFile)) {
      followed_[working_directory] = {*key, now.st_dev, now.st_ino};
      if (changed_) changed_("");
    }
  });
}

Result<void> StoredSource::resume(const StoredExperiment& experiment) {
  const UniqueFd log =
      TRY(open_private(experiment.directory / "resume.log", O_WRONLY | O_CREAT | O_APPEND));
  std::vector<std::string> arguments = {
      options_.program, "resume", "--dir", experiment.directory.string(), "--", experiment.id};
  if (options_.file_limit != 0)
    arguments.insert(arguments.begin(), {"/bin/sh", "-c", R"(ulimit -Sn "$1"; shift; exec "$@")",
                                         "sh", std::to_string(options_.file_limit)});
  const ProcessSpec spec{.arguments = std::move(arguments),
                         .environment = options_.environment,
                         .directory = std::filesystem::current_path(),
                         .descriptors = {{1, log.get()}, {2, log.get()}}};
  // A ChildProcess belongs to the thread of io_.
  std::promise<Result<void>> started;
  boost::asio::post(io_, [this, &spec, &started] {
    std::erase_if(managers_, [](const auto& each) { return !each->running(); });
    auto child = ChildProcess::spawn(io_, spec, [this](ExitStatus) {
      if (changed_) changed_("");
    });
    if (!child) return started.set_value(std::unexpected(child.error()));
    managers_.push_back(*std::move(child));
    started.set_value({});
  });
  // A server that ends runs nothing more on that thread, and waits there for this one.
  auto answer = started.get_future();
  while (answer.wait_for(kEndLook) != std::future_status::ready)
    if (io_.stopped()) return fail("the dashboard ends; start attune resume yourself");
  return answer.get();
}

void StoredSource::look_again() {
  timer_.expires_after(options_.look);
  timer_.async_wait([this, alive = alive_](boost::system::error_code error) {
    if (error || !*alive) return;
    if (changed_) changed_("");
    look_again();
  });
}

}  // namespace attune

#pragma once
// What the dashboard shows, read from the stores of a folder tree.
#include <sys/types.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>

#include "backends/local/file_watch.h"
#include "dashboard/view.h"
#include "manager/dashboard/route.h"
#include "manager/dashboard/store_tree.h"
#include "manager/dashboard/stored_posterior.h"
#include "manager/dashboard/trial_columns.h"
#include "os/clock.h"
#include "os/process.h"

namespace attune {

class StoredSource;

// Reads the stores for one thread: each has its own connections to them.
class StoredView final : public View {
 public:
  StoredView(StoredSource& source, std::vector<Route> routes);

  HttpResponse answer(const HttpRequest& request) override;
  Event event(const std::string& subject) override;

  // ---- for the routes
  // An experiment, and the reader of its store, valid until the next call. Error: 404.
  struct Found {
    StoreReader& reader;
    StoredExperiment experiment;
  };
  std::expected<Found, ApiError> find(const std::string& id);
  // As find(), to change it: store and folder must be its user's own. A store of another user may
  // name any folder, and any id. Error: 403, 404.
  std::expected<Found, ApiError> find_own(const std::string& id);
  std::expected<Found, ApiError> nni_experiment();  // the one that NNI's clients see
  json experiments();                               // as GET /experiments answers
  Result<json> state(const Found& found);           // as GET /experiments/ID, without the file
  TrialColumns& columns(const Found& found);        // kept, and made anew if they no longer fit
  // As fill_wait_reasons() (manager/cli/commands/wait_reasons.h), but asks a manager seldom: it has
  // trials to look after, and one that is stopped would hold up all answers.
  void fill_reasons(const StoredExperiment& experiment, std::vector<TrialRecord>& trials);
  StoredPosterior& posterior() { return posterior_; }
  double now() const;
  const std::vector<Route>& routes() const { return routes_; }
  Result<void> resume(const StoredExperiment& experiment);  // starts a manager

 private:
  // What is kept of an experiment from one answer to the next, because it is read from many rows.
  struct Kept {
    std::unique_ptr<TrialColumns> columns;
    std::optional<Tally> tally;     // of the last answer
    std::optional<BestSoFar> best;  // as of that tally
    bool complete = false;          // the columns have all trials, as of that tally
    json last_failures, failure_causes;
    std::string failures_mark;           // changes with those two
    std::uint64_t used = 0;              // when the columns were asked for last, as uses_ counts
    std::string mark;                    // changes with the row of the experiment
    json reasons = json::object();       // why trials wait
    double ask_again = -1e9;             // Clock::now() from when the manager is asked for them
    double count_failures_again = -1e9;  // likewise, for last_failures and failure_causes
  };
  // The readers of all stores. Searches the folders again if the last search is old.
  void refresh(bool now);
  Result<Tally> tally(const Found& found, Kept& kept);
  // experiment_json() with the facts; what it is made of is in `kept`.
  Result<json> summary(const Found& found, Kept& kept);
  Result<void> read_failures(const Found& found, Kept& kept);
  Result<std::optional<BestSoFar>> best(const Found& found, Kept& kept);
  Result<std::vector<TrialRecord>> unfinished(const Found& found, const Tally& tally);
  // Forgets columns that nobody has asked for lately, so that memory has a bound.
  void drop_columns();
  ApiResult carry_out(const HttpRequest& request);

  StoredSource& source_;
  std::vector<Route> routes_;
  std::map<std::filesystem::path, StoreReader> readers_;  // by working directory
  json problems_ = json::array();
  double search_again_ = -1e9;  // Clock::now() from when a search for an unknown id is allowed
  double searched_ = -1e9;      // Clock::now() of the last search
  std::map<std::string, std::filesystem::path> homes_;  // working directories by experiment id
  std::map<std::string, Kept> kept_;                    // by experiment id
  std::uint64_t uses_ = 0;
  StoredPosterior posterior_;
};

struct StoredSourceOptions {
  std::vector<std::filesystem::path> roots;
  std::string program;                   // the path of attune, which resumes experiments
  std::vector<std::string> environment;  // of the managers that it starts
  std::uint64_t file_limit = 0;          // their soft RLIMIT_NOFILE; 0: ours
  std::string nni_experiment = {};       // the id of the one that NNI's clients see; empty: none
  // How often experiments are looked at that no file tells of: a manager that was killed.
  std::chrono::milliseconds look{5'000};
};

// The stores below some folders, for a Dashboard on `io`.
class StoredSource final : public ViewSource {
 public:
  // The clock outlives it.
  StoredSource(boost::asio::io_context& io, const Clock& clock, StoredSourceOptions options);
  ~StoredSource() override;

  CallKind kind(const HttpRequest& request) const override;
  std::unique_ptr<View> view() override;
  void watch(OnChange changed) override;

  const StoredSourceOptions& options() const { return options_; }
  const Clock& clock() const { return clock_; }
  // Any thread: watches the file of a store from now on.
  void follow(const std::filesystem::path& working_directory);
  // Any thread but that of `io`: starts attune resume, which goes on when this program ends. What
  // it says goes to resume.log in the experiment's folder.
  Result<void> resume(const StoredExperiment& experiment);

 private:
  void look_again();

  boost::asio::io_context& io_;
  const Clock& clock_;
  StoredSourceOptions options_;
  std::vector<Route> routes_;
  OnChange changed_;
  std::unique_ptr<FileWatch> files_;  // null: the system allows no more; then only look_again()
  struct Followed {
    int key = 0;  // of files_
    dev_t device = 0;
    ino_t inode = 0;  // another one: the file was replaced
  };
  std::map<std::filesystem::path, Followed> followed_;
  std::vector<std::unique_ptr<ChildProcess>> managers_;
  boost::asio::steady_timer timer_;
  std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);  // false: this object is gone
};

}  // namespace attune

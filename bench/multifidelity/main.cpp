// Runs a tuner on recorded learning curves, in virtual time and without a daemon, and prints the
// regret of what it has found after so many full trainings: 0 is the best of the recorded ones, 1
// the best of 20 random ones. The best trial is chosen among those at the highest epoch that any
// trial has reached; what counts is its value at the last epoch. Of trade-offs it is the area that
// the last values of all of those do not dominate.
//
// FOLDER has normalisation.json and problems/NAME.curves.json, problems/NAME.exp.json.
//
//   bench_multifidelity FOLDER '{"name": "ASHA", "classArgs": {"max_t": "$EPOCHS"}}'
//                       [workers] [first seed] [last seed] [full trainings] [problem]
//                       [goal: loss, tradeoffs or limit (bench/multifidelity/goal.h)]
#include <fmt/format.h>

#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <queue>
#include <sstream>
#include <stdexcept>

#include "bench/multifidelity/goal.h"
#include "bench/multifidelity/table.h"
#include "space/parse.h"
#include "tuners/registry.h"

namespace attune {
namespace {

constexpr std::array kMarks = {1, 2, 3, 5, 7, 10, 15, 20, 30, 50, 70, 100};

// What was found so far, at marks of epochs spent.
class Progress {
 public:
  Progress(const Table& table, const Judge& judge) : table_(table), judge_(judge) {}

  void add(std::size_t row, std::size_t epoch, double loss) {
    snapshot();
    ++spent_;
    if (epoch < highest_ || !judge_.keeps_limit(row)) return;
    if (epoch > highest_) seen_.clear();
    highest_ = epoch;
    seen_.push_back({row, loss});
  }
  void waste() {
    snapshot();
    ++spent_;
  }
  void snapshot() {
    while (regrets.size() < kMarks.size() &&
           spent_ >= static_cast<std::size_t>(kMarks[regrets.size()]) * table_.epochs()) {
      regrets.push_back(judge_.regret(seen_));
    }
  }
  std::size_t spent() const { return spent_; }

  std::vector<double> regrets;

 private:
  const Table& table_;
  const Judge& judge_;
  std::size_t spent_ = 0, highest_ = 0;
  std::vector<Judge::Seen> seen_;  // at the highest epoch
};

struct Trial {
  std::size_t row = 0, epochs = 0;
  double budget = HUGE_VAL;
  Point point;
  double loss = 0;
  bool paused = false, over = false;
};

struct Event {
  double time;
  std::int64_t order;
  TrialId trial;
  bool operator>(const Event& other) const {
    return std::pair(time, order) > std::pair(other.time, other.order);
  }
};

double seconds_of(auto&& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

struct Figures {
  std::vector<double> regrets;  // at each mark
  std::vector<double> asks;     // seconds of each
  double reports = 0;           // seconds of all
  std::size_t report_count = 0, configurations = 0, full = 0;
};

class Simulation {
 public:
  Simulation(Table& table, const Judge& judge, const Space& space, Tuner& tuner, bool wants_reports)
      : table_(table),
        judge_(judge),
        space_(space),
        tuner_(tuner),
        wants_reports_(wants_reports),
        progress_(table, judge) {}

  Figures run(std::size_t workers, double trainings) {
    const auto most = static_cast<std::size_t>(trainings * static_cast<double>(table_.epochs()));
    free_ = workers;
    fill(0);
    while (progress_.spent() < most && !events_.empty()) {
      const Event event = events_.top();
      events_.pop();
      epoch(event);
      fill(event.time);
    }
    while (progress_.spent() < most) progress_.waste();  // the search space is exhausted
    progress_.snapshot();
    figures_.regrets = progress_.regrets;
    figures_.configurations = trials_.size();
    for (const auto& [id, trial] : trials_) figures_.full += trial.epochs >= table_.epochs();
    return figures_;
  }

 private:
  void fill(double now) {
    while (free_ > 0) {
      const TrialId id = waiting_ ? *std::exchange(waiting_, {}) : next_++;
      std::vector<Answer> answers;
      figures_.asks.push_back(seconds_of([&] { answers = tuner_.ask(std::span(&id, 1)); }));
      const auto* proposal = std::get_if<Proposal>(&answers[0]);
      if (!proposal) {
        waiting_ = id;
        return;
      }
      start(proposal->resume.value_or(id), *proposal, now);
      --free_;
    }
  }

  void start(TrialId id, const Proposal& proposal, double now) {
    Trial& trial = trials_[id];
    trial.point = proposal.point;
    trial.row = table_.row_of(to_json(space_, proposal.point));
    if (proposal.checkpoint_from && !proposal.resume) {
      trial.epochs = trials_.at(*proposal.checkpoint_from).epochs;
    }
    trial.budget = proposal.budget.value_or(HUGE_VAL);
    trial.paused = false;
    go_on(id, now);
  }

  void go_on(TrialId id, double now) {
    events_.push({now + table_.seconds(trials_.at(id).row), order_++, id});
  }

  void epoch(const Event& event) {
    Trial& trial = trials_.at(event.trial);
    ++trial.epochs;
    trial.loss = table_.value(trial.row, trial.epochs);
    progress_.add(trial.row, trial.epochs, trial.loss);
    std::vector<Decision> decisions;
    if (wants_reports_) {
      Report report{event.trial, static_cast<std::int64_t>(trial.epochs) - 1,
                    judge_.metrics(trial.row, trial.loss)};
      report.metrics.emplace_back("training_iteration", static_cast<double>(trial.epochs));
      figures_.reports += seconds_of([&] { decisions = tuner_.on_report(report); });
      ++figures_.report_count;
    }
    bool runs = true;
    for (const Decision& decision : decisions) {
      const auto found = trials_.find(decision.trial);
      if (found == trials_.end() || found->second.over) continue;
      const bool here = decision.trial == event.trial;
      if (decision.action == Action::checkpoint) tuner_.on_checkpoint(decision.trial, true);
      if (decision.action == Action::pause && here) {
        trial.paused = true;
        runs = false;
      } else if (decision.action == Action::stop && (here || found->second.paused)) {
        if (here) runs = false;
        end(decision.trial, decision.complete ? End::completed : End::stopped);
      }
    }
    if (runs &&
        (trial.epochs >= table_.epochs() || static_cast<double>(trial.epochs) >= trial.budget)) {
      runs = false;
      end(event.trial, End::completed);
    }
    if (runs) {
      go_on(event.trial, event.time);
    } else {
      ++free_;
    }
  }

  void end(TrialId id, End how) {
    Trial& trial = trials_.at(id);
    trial.over = true;
    Outcome outcome{.trial = id, .point = trial.point, .end = how};
    if (how == End::completed) {
      outcome.loss = trial.loss;
      outcome.metrics = judge_.metrics(trial.row, trial.loss);
    }
    if (trial.budget < HUGE_VAL) outcome.budget = trial.budget;
    tuner_.tell(std::span(&outcome, 1));
  }

  Table& table_;
  const Judge& judge_;
  const Space& space_;
  Tuner& tuner_;
  bool wants_reports_;
  Progress progress_;
  Figures figures_;
  std::map<TrialId, Trial> trials_;
  std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
  std::size_t free_ = 0;
  TrialId next_ = 0;
  std::optional<TrialId> waiting_;
  std::int64_t order_ = 0;
};

json read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return json::parse(text.str());
}

double quantile(std::vector<double> values, double q) {
  std::ranges::sort(values);
  return values.empty() ? 0 : values[static_cast<std::size_t>(q * double(values.size() - 1))];
}

struct Options {
  std::filesystem::path folder;
  json tuner;
  std::size_t workers = 4;
  std::uint64_t first = 0, last = 2;  // seeds
  double trainings = 20;
  std::string only = {};  // part of a problem's name
  Goal goal = Goal::loss;
};

Options read_options(int argc, char** argv) {
  Options options{.folder = argv[1], .tuner = json::parse(argv[2])};
  const auto number = [&](int i, double fallback) {
    return argc > i ? std::stod(argv[i]) : fallback;
  };
  options.workers = static_cast<std::size_t>(number(3, 4));
  options.first = static_cast<std::uint64_t>(number(4, 0));
  options.last = static_cast<std::uint64_t>(number(5, 2));
  options.trainings = number(6, 20);
  if (argc > 7) options.only = argv[7];
  const std::string goal = argc > 8 ? argv[8] : "loss";
  const std::map<std::string, Goal> goals = {
      {"loss", Goal::loss}, {"tradeoffs", Goal::tradeoffs}, {"limit", Goal::limit}};
  options.goal = goals.at(goal);
  return options;
}

MadeTuner tuner_for(const Options& options, const Table& table, const Judge& judge,
                    std::uint64_t seed) {
  json arguments = options.tuner.value("classArgs", json::object());
  for (auto& [key, value] : arguments.items()) {
    if (value == "$EPOCHS") value = table.epochs();
  }
  arguments["optimize_mode"] = "minimize";
  Context context;
  context.concurrency = static_cast<int>(options.workers);
  context.objectives = judge.objectives();
  context.pauses = true;
  auto made = make_tuner(builtin_tuners(), options.tuner.at("name").get<std::string>(), arguments,
                         context, seed);
  if (!made) throw std::runtime_error(made.error().message);
  return *std::move(made);
}

// The mean over the seeds of the normalised regret at each mark. Prints a line.
std::vector<double> run_problem(const Options& options, const std::string& name, const json& norm) {
  Table table(read(options.folder / "problems" / (name + ".curves.json")));
  const json experiment = read(options.folder / "problems" / (name + ".exp.json"));
  const Space space = parse_space(experiment["searchSpace"]).value();
  const Judge judge(table, options.goal, norm);
  const double seeds = static_cast<double>(options.last - options.first + 1);
  std::vector<double> mean(kMarks.size());
  Figures all;
  for (std::uint64_t seed = options.first; seed <= options.last; ++seed) {
    MadeTuner made = tuner_for(options, table, judge, seed);
    if (auto set = made.tuner->set_space(space); !set)
      throw std::runtime_error(set.error().message);
    Simulation simulation(table, judge, space, *made.tuner, made.wants_reports);
    const Figures figures = simulation.run(options.workers, options.trainings);
    mean.resize(figures.regrets.size());
    for (std::size_t i = 0; i < mean.size(); ++i) {
      mean[i] += figures.regrets[i] / seeds;
    }
    all.asks.insert(all.asks.end(), figures.asks.begin(), figures.asks.end());
    all.reports += figures.reports;
    all.report_count += figures.report_count;
    all.configurations += figures.configurations;
    all.full += figures.full;
  }
  fmt::print("{:42}", name);
  for (const double regret : mean) fmt::print(" {:.2f}", regret);
  fmt::print("  | trials {:.0f} full {:.1f} ask ms {:.2f} p95 {:.2f} max {:.1f} report us {:.1f}\n",
             double(all.configurations) / seeds, double(all.full) / seeds,
             1e3 * quantile(all.asks, 0.5), 1e3 * quantile(all.asks, 0.95),
             1e3 * quantile(all.asks, 1),
             1e6 * all.reports / double(std::max<std::size_t>(all.report_count, 1)));
  std::fflush(stdout);
  return mean;
}

int run(int argc, char** argv) {
  if (argc < 3) {
    fmt::print(stderr,
               "usage: bench_multifidelity FOLDER TUNER [workers] [first seed] [last seed] "
               "[full trainings] [problem] [goal]\n");
    return 2;
  }
  const Options options = read_options(argc, argv);
  const json norm = read(options.folder / "normalisation.json");
  constexpr std::string_view kCurves = ".curves.json";
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(options.folder / "problems")) {
    const std::string file = entry.path().filename();
    if (!file.ends_with(kCurves) || file.find(options.only) == std::string::npos) continue;
    names.push_back(file.substr(0, file.size() - kCurves.size()));
  }
  std::ranges::sort(names);
  std::vector<double> sums(kMarks.size());
  for (const std::string& name : names) {
    const std::vector<double> mean = run_problem(options, name, norm.at(name));
    sums.resize(mean.size());
    for (std::size_t i = 0; i < mean.size(); ++i) sums[i] += mean[i] / double(names.size());
  }
  fmt::print("{:42}", "mean");
  for (const double sum : sums) fmt::print(" {:.2f}", sum);
  fmt::print("\n");
  return 0;
}

}  // namespace
}  // namespace attune

int main(int argc, char** argv) {
  try {
    return attune::run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "bench_multifidelity: {}\n", error.what());
    return 1;
  }
}

#include "plugins/process/process_plugin.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "base/terminal_text.h"
#include "plugins/process/messages.h"

namespace attune {
namespace {

// Bytes of a reply: of one without a list, for each trial that was asked for, of a state.
constexpr std::size_t kReply = 1 << 20, kTrial = 64 << 10, kState = 64 << 20;
// A value takes some 70 bytes of memory, however short its text is.
constexpr JsonLimits kLimits = {.values = 4'000'000};

// A program, and the requests to it. As after each error, a program that answers with what cannot
// be used is ended.
class Caller {
 public:
  Caller(std::shared_ptr<const ProcessPluginSpec> spec, const Clock& clock, const Log& log)
      : spec_(std::move(spec)), program_(*spec_, clock, log) {}

  Result<void> start() { return program_.start(); }

  // Sends a request, and reads the reply with `read(object) -> Result<T>`.
  template <class Read>
  auto call(const json& request, std::size_t most, Read&& read) -> decltype(read(request)) {
    auto line = program_.exchange(dump_json(request) + "\n", most);
    if (!line) return std::unexpected(line.error());
    const auto reply = parse_json(*line, kLimits);
    if (!reply) return refuse("its answer is not JSON: " + reply.error().message);
    if (!reply->is_object())
      return refuse(fmt::format("its answer must be an object, not {}", json_type_name(*reply)));
    if (const auto error = reply->find("error"); error != reply->end()) {
      const std::string text = error->is_string() ? error->get<std::string>() : dump_json(*error);
      return refuse(text);
    }
    auto said = read(*reply);
    if (!said) return refuse(said.error().message);
    return said;
  }

  Result<void> call(const json& request) {
    return call(request, kReply, [](const json&) { return Result<void>(); });
  }

 private:
  static constexpr std::size_t kLongestError = 1000;

  std::unexpected<Error> refuse(const std::string& what) {
    program_.kill();
    // It quotes the program, and is shown on terminals.
    return fail(terminal_line(std::string_view(what).substr(0, kLongestError)));
  }

  std::shared_ptr<const ProcessPluginSpec> spec_;
  Program program_;
};

class ProcessTuner final : public PluginTuner {
 public:
  ProcessTuner(std::unique_ptr<Caller> caller, PluginDescription which, PluginSetup setup)
      : caller_(std::move(caller)), which_(std::move(which)), setup_(std::move(setup)) {}

  Result<void> set_space(const Space& space) override {
    TRY(caller_->call(init_request(which_, setup_, &space)));
    space_ = space;
    return {};
  }
  Result<std::vector<Answer>> ask(std::span<const TrialId> ids) override {
    return caller_->call(ask_request(ids), kReply + kTrial * ids.size(),
                         [&](const json& reply) { return read_ask(space_, reply, ids.size()); });
  }
  Result<void> withdraw(TrialId id) override {
    return caller_->call({{"op", "withdraw"}, {"id", id}});
  }
  Result<void> tell(std::span<const Outcome> outcomes) override {
    return caller_->call(tell_request(space_, outcomes));
  }
  Result<void> adopt(TrialId id, const Point& point) override {
    return caller_->call(adopt_request(space_, id, point));
  }
  Result<std::vector<Decision>> on_report(const Report& report) override {
    return caller_->call(report_request(report), kState, read_report);
  }
  Result<void> skip_ahead() override { return caller_->call({{"op", "skip_ahead"}}); }
  Result<json> save() override { return caller_->call({{"op", "save"}}, kState, read_save); }
  Result<void> load(const json& state) override {
    return caller_->call({{"op", "load"}, {"state", state}});
  }
  Result<void> restart() override { return caller_->start(); }

 private:
  std::unique_ptr<Caller> caller_;
  const PluginDescription which_;
  const PluginSetup setup_;
  Space space_;
};

class ProcessAssessor final : public PluginAssessor {
 public:
  ProcessAssessor(std::unique_ptr<Caller> caller, PluginDescription which, PluginSetup setup)
      : caller_(std::move(caller)), which_(std::move(which)), setup_(std::move(setup)) {}

  Result<void> init() { return caller_->call(init_request(which_, setup_, nullptr)); }

  // Sends only what is new, because a trial may have very many reports. Of a step that was reported
  // again nobody says which one it was.
  Result<Decision> assess(TrialId trial, std::span<const Report> reports) override {
    std::size_t& sent = sent_[trial];
    const std::size_t from = sent < reports.size() ? sent : 0;
    auto decision = caller_->call(assess_request(trial, reports, from), kReply,
                                  [trial](const json& reply) { return read_assess(trial, reply); });
    sent = reports.size();
    return decision;
  }
  Result<void> trial_end(TrialId trial, End end) override {
    sent_.erase(trial);
    return caller_->call(trial_end_request(trial, end));
  }
  Result<json> save() override { return caller_->call({{"op", "save"}}, kState, read_save); }
  Result<void> load(const json& state) override {
    sent_.clear();
    return caller_->call({{"op", "load"}, {"state", state}});
  }
  Result<void> restart() override {
    sent_.clear();
    TRY(caller_->start());
    return init();
  }

 private:
  std::unique_ptr<Caller> caller_;
  const PluginDescription which_;
  const PluginSetup setup_;
  std::map<TrialId, std::size_t> sent_;  // reports of the trials that run
};

class ProcessPlugin final : public Plugin {
 public:
  ProcessPlugin(std::shared_ptr<const ProcessPluginSpec> spec, const Clock& clock, Log log,
                std::unique_ptr<Caller> described, std::vector<PluginDescription> algorithms)
      : spec_(std::move(spec)),
        clock_(clock),
        log_(std::move(log)),
        name_(command_text(*spec_)),
        unused_(std::move(described)),
        algorithms_(std::move(algorithms)) {}

  const std::string& name() const override { return name_; }
  const std::vector<PluginDescription>& algorithms() const override { return algorithms_; }

  Result<std::unique_ptr<PluginTuner>> make_tuner(const PluginDescription& which,
                                                  PluginSetup setup) override {
    return std::make_unique<ProcessTuner>(TRY(program()), which, std::move(setup));
  }
  Result<std::unique_ptr<PluginAssessor>> make_assessor(const PluginDescription& which,
                                                        PluginSetup setup) override {
    auto made = std::make_unique<ProcessAssessor>(TRY(program()), which, std::move(setup));
    TRY(made->init());
    return made;
  }

 private:
  // The first algorithm takes the program that was asked what it offers: to start one may take
  // seconds.
  Result<std::unique_ptr<Caller>> program() {
    if (unused_) return std::move(unused_);
    auto caller = std::make_unique<Caller>(spec_, clock_, log_);
    TRY(caller->start());
    return caller;
  }

  const std::shared_ptr<const ProcessPluginSpec> spec_;
  const Clock& clock_;
  const Log log_;
  const std::string name_;
  std::unique_ptr<Caller> unused_;
  const std::vector<PluginDescription> algorithms_;
};

}  // namespace

Result<std::unique_ptr<Plugin>> open_process_plugin(ProcessPluginSpec spec, const Clock& clock,
                                                    const Log& log) {
  if (spec.command.empty() || spec.command.front().empty())
    return fail("plug-in: the command is empty");
  auto shared = std::make_shared<const ProcessPluginSpec>(std::move(spec));
  const auto named = [&shared](const char* what, const Error& error) {
    return fail_at("plug-in " + command_text(*shared), what + error.message);
  };
  auto caller = std::make_unique<Caller>(shared, clock, log);
  if (auto started = caller->start(); !started) return named("", started.error());
  auto algorithms = caller->call(describe_request(), kReply, read_describe);
  if (!algorithms) return named("describe: ", algorithms.error());
  return std::make_unique<ProcessPlugin>(std::move(shared), clock, log, std::move(caller),
                                         *std::move(algorithms));
}

}  // namespace attune

// The route for Prometheus: text exposition format 0.0.4.
#include <fmt/format.h>

#include "manager/dashboard/stored_view.h"

namespace attune {
namespace {

std::string label(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\' || c == '"') escaped += '\\';
    if (c == '\n') {
      escaped += "\\n";
    } else {
      escaped += c;
    }
  }
  return escaped;
}

// The lines of one metric, of all experiments.
class Family {
 public:
  Family(const std::string& name, const char* type, const char* help)
      : name_(name), text_(fmt::format("# HELP {0} {2}\n# TYPE {0} {1}\n", name, type, help)) {}

  // `more`: further labels, as in ,state="failed".
  void add(const json& experiment, double value, const std::string& more = "") {
    text_ +=
        fmt::format("{}{{experiment=\"{}\",name=\"{}\"{}}} {}\n", name_,
                    label(experiment["experiment_id"]), label(experiment["name"]), more, value);
  }
  const std::string& text() const { return text_; }

 private:
  std::string name_, text_;
};

ApiResult metrics(ApiCall& call) {
  Family running("attune_experiment_running", "gauge", "1 while a manager runs the experiment");
  Family seconds("attune_experiment_seconds_total", "counter",
                 "How long the experiment's managers have run");
  Family trials("attune_trials", "gauge", "Trials in each state");
  Family limit("attune_max_trials", "gauge", "How many trials the experiment runs in all");
  Family best("attune_best", "gauge", "The best value of the first objective");
  const json all = call.view.experiments();
  for (const json& each : all["experiments"]) {
    running.add(each, each["status"] == "running" ? 1 : 0);
    seconds.add(each, each["seconds"].get<double>());
    for (const auto& [state, count] : each["trials"].items())
      trials.add(each, count.get<double>(), fmt::format(",state=\"{}\"", state));
    if (each["max_trials"].is_number()) limit.add(each, each["max_trials"].get<double>());
    if (each["best"].is_object() && each["best"]["score"].is_number())
      best.add(each, each["best"]["score"].get<double>());
  }
  return HttpResponse::text(
      200, "text/plain; version=0.0.4; charset=utf-8",
      running.text() + seconds.text() + trials.text() + limit.text() + best.text());
}

}  // namespace

std::vector<Route> metrics_routes() {
  return {{.method = "GET",
           .path = "/metrics",
           .summary = "Experiments for Prometheus",
           .answer = "text/plain",
           .call = metrics}};
}

}  // namespace attune

// The options of attune dashboard, attune report and attune plot.
#include "manager/cli/options_parser.h"

namespace attune {
namespace {

constexpr const char* kOrFolder =
    "Id, beginning of an id, or name; or a folder of experiments, then its newest (default: the "
    "newest)";

void add_report(CLI::App& app, ParsedOptions& found) {
  CLI::App* report =
      command(app, found, "Look", "report", "Write the page of an experiment as one HTML file",
              &ParsedOptions::report,
              "  attune report -o digits.html\n"
              "  attune report /srv/tuning/attune-experiments\n"
              "  attune report digits --dir /srv/tuning/attune-experiments\n");
  choice_options(report, found.report.which, true);
  report->get_option("experiment")->description(kOrFolder);
  report->add_option("-o,--output", found.report.output, "File to write")
      ->type_name("FILE")
      ->capture_default_str();
}

void add_plot(CLI::App& app, ParsedOptions& found) {
  CLI::App* plot =
      command(app, found, "Look", "plot", "Draw a picture of an experiment into a file",
              &ParsedOptions::plot,
              "  attune plot history -o history.svg\n"
              "  attune plot slice -p lr -p units -o slice.png\n"
              "  attune plot curves --best 3 --log -o curves.svg --width 400 --height 300\n");
  plot->add_option("KIND", found.plot.kind,
                   "history, curves, parallel, importance, slice, contour, timeline or front")
      ->required()
      ->check(CLI::IsMember({"history", "curves", "parallel", "importance", "slice", "contour",
                             "timeline", "front"}));
  choice_options(plot, found.plot.which, true);
  plot->get_option("experiment")->description(kOrFolder);
  plot->add_option("-o,--output", found.plot.output, "File to write, .svg or .png")
      ->required()
      ->type_name("FILE");
  plot->add_option("--metric", found.plot.metric, "Another objective than the first")
      ->type_name("NAME");
  plot->add_option("-p,--parameter", found.plot.parameters,
                   "A parameter of slice or contour; may be repeated. Without it those that matter "
                   "most")
      ->type_name("NAME")
      ->allow_extra_args(false);
  plot->add_option("--best", found.plot.best, "curves: of so many of the best trials")
      ->type_name("N")
      ->check(CLI::Range(1, 6));
  plot->add_flag("--log", found.plot.log, "Results on a logarithmic scale");
  plot->add_option("--width", found.plot.width, "Units across; a PNG has 2 pixels for each")
      ->check(CLI::Range(100, 10'000));
  plot->add_option("--height", found.plot.height, "Units down")->check(CLI::Range(100, 10'000));
}

void add_server(CLI::App& app, ParsedOptions& found) {
  CLI::App* dashboard =
      command(app, found, "Look", "dashboard",
              "Serve a page that shows experiments, running and ended, and can steer them",
              &ParsedOptions::dashboard,
              "  attune dashboard\n"
              "  attune dashboard /srv/tuning --listen 127.0.0.1:9000 --open\n"
              "  attune dashboard --read-only --listen unix:/run/user/1000/attune.sock\n");
  dashboard
      ->add_option("DIR", found.dashboard.directories,
                   "Folders; all experiments in them and below are served")
      ->type_name("DIR")
      ->capture_default_str();
  dashboard
      ->add_option("--listen", found.dashboard.listen,
                   "Where to listen: HOST:PORT, or unix:PATH; without it 127.0.0.1:8470, or "
                   "another port if that is taken and there is no --token-file")
      ->type_name("ADDRESS");
  dashboard->add_flag("--open", found.dashboard.open, "Open the page in a browser");
  dashboard->add_flag("--read-only", found.dashboard.read_only, "Refuse everything that changes");
  dashboard->add_flag(
      "--nni-rest", found.dashboard.nni_rest,
      "Also serve one experiment, the newest, as NNI's manager does: for nnictl and "
      "NNI's page");
  dashboard
      ->add_option("--token-file", found.dashboard.token_file,
                   "Keep the token in this file from start to start (made if missing); "
                   "programs read it there")
      ->type_name("FILE");
  dashboard
      ->add_option("--allow-host", found.dashboard.allow_hosts,
                   "Also serve requests for this host name, such as that of a TLS proxy")
      ->type_name("NAME")
      ->allow_extra_args(false);
  dashboard->add_flag("--allow-remote", found.dashboard.allow_remote,
                      "Listen where other machines can reach it, although nothing is encrypted");
  dashboard->add_flag("--end-with-input", found.dashboard.end_with_input,
                      "End when standard input ends, such as with the program that holds it");
}

}  // namespace

void add_dashboard(CLI::App& app, ParsedOptions& found) {
  add_server(app, found);
  add_report(app, found);
  add_plot(app, found);
}

}  // namespace attune

#include "katib/options.h"

#include <CLI/CLI.hpp>

#include "daemon/version.h"

namespace attune::katib {

std::expected<Options, Usage> read_options(int argc, const char* const* argv) {
  CLI::App app("attune-katib, attune as a suggestion service of Katib on Kubernetes");
  Options options;
  std::string level = "info";
  bool man = false;
  app.set_version_flag("--version", "attune-katib " + std::string(kVersion));
  app.add_option("--listen", options.listen,
                 "Address to serve gRPC at. Whoever reaches it can call: there are no "
                 "credentials. Port 0: the system chooses one")
      ->type_name("HOST:PORT")
      ->capture_default_str();
  app.add_option("--data", options.folder,
                 "Remember experiments in files here, for a restart; without it the requests of "
                 "Katib are the memory")
      ->type_name("DIR");
  app.add_flag("--list", options.list, "Print the names of the algorithms that are served");
  app.add_option("--log-level", level, "trace, debug, info, warning, error or fatal; to stderr")
      ->capture_default_str();
  app.add_flag("--man", man, "Print the manual page")->group("");  // called by the installation
  app.footer(
      "Started by Katib as the image of a suggestion or of an early stopping service. Prints the\n"
      "address when it serves. Exit codes: 0 asked to end, 1 internal error, 2 unusable arguments "
      "or address.");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return std::unexpected(usage_after(app, error, "attune-katib"));
  }
  if (man) {
    return std::unexpected(manual_page(app, "attune-katib", std::string(kVersion), "attuned(1)"));
  }
  auto parsed = parse_log_level(level);
  if (!parsed) {
    return std::unexpected(Usage{2, "attune-katib: --log-level: " + parsed.error().message + "\n"});
  }
  options.log_level = *parsed;
  return options;
}

}  // namespace attune::katib

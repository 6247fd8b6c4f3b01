// The options of attune mcp.
#include "manager/cli/options_parser.h"

namespace attune {

void add_mcp(CLI::App& app, ParsedOptions& found) {
  CLI::App* mcp = command(app, found, "Other programs", "mcp",
                          "Serve experiments to agents: a Model Context Protocol server on "
                          "standard input and output",
                          &ParsedOptions::mcp,
                          "  attune mcp --dir /srv/tuning/attune-experiments\n"
                          "  attune mcp --allow-changes\n");
  directory_option(mcp, found.mcp.directory);
  mcp->add_flag("--allow-changes", found.mcp.allow_changes,
                "Also offer tools that add trials, change limits, and stop trials and experiments");
}

}  // namespace attune

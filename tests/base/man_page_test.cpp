#include "base/man_page.h"

#include <catch2/catch.hpp>

namespace attune::man_page_test {

TEST_CASE("man page: options, commands, and nothing that the formatter takes for its own") {
  DescribedCommand program;
  program.name = "tool";
  program.description = "tool, does it";
  program.options = {{{"--help", "-h"}, "", "Print this", false, false, false, ""}};
  DescribedCommand run;
  run.name = "run";
  run.description = "Run it";
  run.footer = "Examples:\n  tool run a\\b\n.tool\n'x'\n";
  run.options = {{{}, "file", "What to run", true, true, false, "FILE"},
                 {{}, "more", "Others", true, false, true, "FILE"},
                 {{"--mode"}, "", ".fast or slow", true, false, false, "a|b"}};
  program.commands = {run};
  CHECK(man_page(program, "1.2", "other(1)") ==
        ".TH TOOL 1 \"\" \"tool 1.2\" \"User Commands\"\n"
        ".SH NAME\ntool \\- does it\n"
        ".SH SYNOPSIS\n\\fBtool\\fR [\\fIcommand\\fR] [\\fIoptions\\fR]\n"
        ".SH OPTIONS\n.TP\n\\fB\\-\\-help\\fR, \\fB\\-h\\fR\nPrint this\n"
        ".SH COMMANDS\n"
        ".SS \\fBtool run\\fR \\fIfile\\fR [\\fImore\\fR...]\nRun it.\n"
        ".TP\n\\fIfile\\fR\nWhat to run\n"
        ".TP\n\\fImore\\fR\nOthers\n"
        ".TP\n\\fB\\-\\-mode\\fR \\fIa|\\:b\\fR\n\\&.fast or slow\n"
        ".PP\n.nf\nExamples:\n  tool run a\\eb\n\\&.tool\n\\&\\(aqx\\(aq\n.fi\n"
        ".SH SEE ALSO\nother(1)\n");
}

}  // namespace attune::man_page_test

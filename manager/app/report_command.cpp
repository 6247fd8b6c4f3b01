// The commands attune report and attune plot.
#include <boost/asio/io_context.hpp>
#include <filesystem>
#include <utility>

#include "manager/app/run_command.h"
#include "manager/cli/commands/output_file.h"
#include "manager/dashboard/report.h"
#include "manager/dashboard/stored_pictures.h"
#include "manager/dashboard/stored_view.h"
#include "manager/store/schema.h"
#include "os/standard_output.h"

namespace attune {
namespace {

// A folder with a store may stand in place of the experiment: then it is the newest one there.
ExperimentChoice with_folder(ExperimentChoice which) {
  if (!which.experiment.empty() &&
      std::filesystem::exists(std::filesystem::path(which.experiment) / kStoreFile)) {
    which.directory = std::exchange(which.experiment, "");
  }
  return which;
}

}  // namespace

Result<int> write_report(const ReportOptions& options) {
  const ExperimentChoice which = with_folder(options.which);
  StoreReader reader = TRY(StoreReader::open(which.directory));
  const StoredExperiment experiment = TRY(reader.find(which.experiment));
  const SystemClock clock;
  boost::asio::io_context io;
  StoredSource source(io, clock,
                      {.roots = {reader.working_directory()}, .program = "", .environment = {}});
  const auto view = source.view();
  const std::string document = TRY(report_document(*view, experiment.id));
  TRY(write_file(options.output, [&](std::FILE* out) -> Result<void> {
    put_text(out, document);
    return {};
  }));
  return kExitOk;
}

Result<int> write_plot(const PlotOptions& options) {
  const bool svg = options.output.ends_with(".svg");
  if (!svg && !options.output.ends_with(".png"))
    return fail(options.output + ": the name must end with .svg or .png");
  const ExperimentChoice which = with_folder(options.which);
  StoreReader reader = TRY(StoreReader::open(which.directory));
  const StoredExperiment experiment = TRY(reader.find(which.experiment));
  const PictureQuestion question{.kind = options.kind,
                                 .metric = options.metric,
                                 .parameters = options.parameters,
                                 .best = static_cast<std::size_t>(options.best),
                                 .log = options.log};
  const plots::PageSettings page{.format = svg ? plots::Format::svg : plots::Format::png,
                                 .width = options.width,
                                 .height = options.height};
  const std::string picture = TRY(stored_picture(reader, experiment, question, page));
  TRY(write_file(options.output, [&](std::FILE* out) -> Result<void> {
    put_text(out, picture);
    return {};
  }));
  return kExitOk;
}

}  // namespace attune

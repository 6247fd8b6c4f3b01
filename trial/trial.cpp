#include "trial/trial.h"

#include <iostream>
#include <utility>

#include "base/python_json.h"
#include "os/atomic_file.h"
#include "trial/parameter_file.h"

namespace attune {
namespace fs = std::filesystem;
namespace {

Result<fs::path> checkpoint_file(const fs::path& folder, std::string_view name) {
  // write_file_atomically() has `name`.tmp for itself.
  if (name.empty() || name.front() == '.' || name.ends_with(".tmp") ||
      name.find_first_of(std::string_view("/\0", 2)) != name.npos) {
    return fail("\"" + std::string(name) +
                "\" is no name for a checkpoint: a file name without '/', that neither begins with "
                "'.' nor ends in \".tmp\"");
  }
  return folder / name;
}

}  // namespace

Result<std::optional<json>> Trial::next_parameters() {
  const std::int64_t index = next_index_;
  if (index > 0 && !multi_phase_) return std::nullopt;
  if (stand_alone()) {
    next_index_ = 1;
    open_ = true;
    return defaults_;
  }
  ProposedParameters proposal;
  if (index == 0) {
    proposal = TRY(read_proposal(system_directory_ / "parameter.cfg"));
  } else {
    const fs::path path = system_directory_ / ("parameter_" + std::to_string(index) + ".cfg");
    proposal = TRY(await_proposal(path, [&] { return request(index); }));
  }
  ++next_index_;
  parameter_id_ = std::move(proposal.id);
  open_ = true;
  json parameters = defaults_;
  parameters.update(proposal.parameters);
  return parameters;
}

Result<void> Trial::report(const json& metrics) {
  TRY(send("PERIODICAL", reports_, metrics));
  ++reports_;  // a report that failed leaves no gap: a manager would wait for it
  if (!stand_alone()) decisions_.wait_for(reports_);
  return {};
}

Result<void> Trial::final(const json& metrics) {
  TRY(send("FINAL", 0, metrics));
  open_ = false;
  return {};
}

Result<void> Trial::send(std::string_view type, std::int64_t sequence, const json& metrics) {
  if (next_index_ == 0) {
    return fail("a report before next_parameters(): nobody knows which parameters it is about");
  }
  if (!open_) return fail("a report after the final result of these parameters");
  if (!metrics.is_number() && !metrics.is_object()) {
    return fail("a metric is a number, or an object of named values; this is " +
                std::string(json_type_name(metrics)));
  }
  const std::string text = dump_python_json(metrics);
  if (!stand_alone()) {
    return metrics_.append({{"parameter_id", parameter_id_},
                            {"trial_job_id", id_},
                            {"type", type},
                            {"sequence", sequence},
                            {"value", text}});
  }
  if (type == "FINAL") {
    *output_ << "final: ";
  } else {
    *output_ << "report " << sequence << ": ";
  }
  *output_ << text << std::endl;  // a human watches
  if (!*output_) return fail("cannot print a report: standard output is closed, or its disk full");
  return {};
}

Result<void> Trial::request(std::int64_t index) {
  return metrics_.append({{"trial_job_id", id_},
                          {"type", "REQUEST_PARAMETER"},
                          {"sequence", 0},
                          {"parameter_index", index}});
}

Result<void> Trial::save(std::string_view name, std::string_view bytes) {
  const fs::path path = TRY(checkpoint_file(checkpoint_dir_.value_or(fs::path()), name));
  if (!checkpoint_dir_) return {};
  return write_file_atomically(path.string(), bytes);
}

Result<std::optional<std::string>> Trial::restore(std::string_view name) const {
  const fs::path path = TRY(checkpoint_file(checkpoint_dir_.value_or(fs::path()), name));
  std::error_code error;
  if (!checkpoint_dir_ || (!fs::exists(path, error) && !error)) return std::nullopt;
  return TRY(read_file(path.string()));
}

}  // namespace attune

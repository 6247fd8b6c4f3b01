#include "manager/interchange/export_format.h"

#include <algorithm>
#include <array>

#include "manager/interchange/mlflow_export.h"
#include "manager/interchange/optuna_export.h"
#include "manager/interchange/tensorboard_export.h"
#include "manager/interchange/trial_rows.h"

namespace attune {
namespace {

constexpr std::array kFormats = {
    ExportFormat{"jsonl", "trials.jsonl", false, lines_exporter, nullptr},
    ExportFormat{"optuna", "study.log", false, optuna_exporter, nullptr},
    ExportFormat{"tensorboard", "tensorboard", false, nullptr, tensorboard_exporter},
    ExportFormat{"mlflow", "", true, nullptr, mlflow_exporter},
};

}  // namespace

const ExportFormat* find_export_format(std::string_view name) {
  const auto found = std::ranges::find(kFormats, name, &ExportFormat::name);
  return found == kFormats.end() ? nullptr : &*found;
}

}  // namespace attune

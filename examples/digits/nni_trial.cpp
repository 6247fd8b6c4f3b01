#include "examples/digits/nni_trial.h"

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <thread>
#include <utility>

#include "examples/digits/text.h"

namespace digits {
namespace fs = std::filesystem;
using nlohmann::json;
using nlohmann::ordered_json;

std::expected<std::optional<NniTrial>, std::string> NniTrial::from_environment() {
  const char* sys_dir = std::getenv("NNI_SYS_DIR");
  if (sys_dir == nullptr || *sys_dir == 0) return std::nullopt;
  const fs::path parameter_path = fs::path(sys_dir) / "parameter.cfg";
  std::ifstream file(parameter_path);
  if (!file) return std::unexpected(concat("cannot read '", parameter_path.string(), "'"));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const json proposal = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!proposal.is_object() || !proposal.contains("parameters")) {
    return std::unexpected(
        concat(parameter_path.string(), ": expected a JSON object with the key \"parameters\""));
  }

  NniTrial trial;
  trial.metrics_path_ = fs::path(sys_dir) / ".nni" / "metrics";
  std::error_code error;
  fs::create_directories(trial.metrics_path_.parent_path(), error);  // append() reports a failure
  const char* job_id = std::getenv("NNI_TRIAL_JOB_ID");
  trial.job_id_ = job_id == nullptr ? "" : job_id;
  trial.parameter_id_ = proposal.value("parameter_id", json());
  trial.parameters_ = proposal["parameters"];
  const char* checkpoints = std::getenv("ATTUNE_CHECKPOINT_DIR");
  if (checkpoints != nullptr && *checkpoints != 0)
    trial.state_path_ = fs::path(checkpoints) / "state";
  return trial;
}

std::string NniTrial::saved_state() const {
  std::ifstream file(state_path_, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Under another name first: the folder may be copied at any time.
std::expected<void, std::string> NniTrial::save_state(const std::string& state) const {
  if (state_path_.empty()) return {};
  const fs::path part = state_path_.string() + ".part";
  std::ofstream file(part, std::ios::binary);
  file << state;
  file.close();
  std::error_code error;
  if (file) fs::rename(part, state_path_, error);
  if (!file || error) return std::unexpected(concat("cannot write '", state_path_.string(), "'"));
  return {};
}

std::expected<void, std::string> NniTrial::report_intermediate(const ordered_json& metric) {
  auto reported = append("PERIODICAL", next_sequence_++, metric);
  if (reported) wait_for_decision();
  return reported;
}

// attune's `decisions: in-step`: the file has as many bytes as results are decided. It is not there
// if nobody decides, and goes when the trial is to end. After a minute nobody will answer.
void NniTrial::wait_for_decision() const {
  const fs::path answered = metrics_path_.parent_path() / "answered";
  const auto last = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  std::error_code gone;
  while (std::chrono::steady_clock::now() < last) {
    const std::uintmax_t decided = fs::file_size(answered, gone);
    if (gone || decided >= static_cast<std::uintmax_t>(next_sequence_)) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
}

std::expected<void, std::string> NniTrial::report_final(const ordered_json& metric) {
  return append("FINAL", 0, metric);
}

std::expected<void, std::string> NniTrial::append(const char* type, std::int64_t sequence,
                                                  const ordered_json& metric) {
  const ordered_json record = {{"parameter_id", parameter_id_},
                               {"trial_job_id", job_id_},
                               {"type", type},
                               {"sequence", sequence},
                               {"value", metric.dump()}};  // JSON text inside a JSON string
  const std::string body = record.dump() + "\n";
  std::string length = std::to_string(body.size());
  length.insert(0, 6 - length.size(), '0');
  const std::string line = "ME" + length + body;

  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
      std::fopen(metrics_path_.c_str(), "ab"), &std::fclose);
  // One buffered record, one flush: it reaches the file in one write, so that a reader or a kill in
  // between sees all of it or nothing.
  if (file == nullptr || std::fwrite(line.data(), 1, line.size(), file.get()) != line.size() ||
      std::fflush(file.get()) != 0) {
    return std::unexpected(
        concat("cannot append to '", metrics_path_.string(), "': ", std::strerror(errno)));
  }
  // Some managers watch the time stamp, and miss a change that comes right after they looked.
  std::error_code ignored;
  fs::last_write_time(metrics_path_, fs::file_time_type::clock::now(), ignored);
  return {};
}

}  // namespace digits

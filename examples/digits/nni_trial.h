#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

namespace digits {

// The trial side of NNI's file protocol, all of it that a trial needs:
// the manager writes $NNI_SYS_DIR/parameter.cfg before it starts us, and we append a record to
// $NNI_SYS_DIR/.nni/metrics for each result. A record is "ME", the length of the rest in six
// digits, a JSON object and a newline, which the length includes.
class NniTrial {
 public:
  // nullopt if no manager started us.
  static std::expected<std::optional<NniTrial>, std::string> from_environment();

  const nlohmann::json& parameters() const { return parameters_; }

  // What an earlier attempt has saved, here or on another machine. Empty: nothing.
  std::string saved_state() const;
  // Keeps the state for a later attempt. Does nothing under a manager that keeps no files.
  std::expected<void, std::string> save_state(const std::string& state) const;

  // `metric` is a number, or an object with the key "default" and any others.
  std::expected<void, std::string> report_intermediate(const nlohmann::ordered_json& metric);
  std::expected<void, std::string> report_final(const nlohmann::ordered_json& metric);

 private:
  void wait_for_decision() const;
  std::expected<void, std::string> append(const char* type, std::int64_t sequence,
                                          const nlohmann::ordered_json& metric);

  std::filesystem::path metrics_path_;
  std::filesystem::path state_path_;  // empty: nobody keeps it
  std::string job_id_;
  nlohmann::json parameter_id_;  // any JSON: some tuners use strings
  nlohmann::json parameters_;
  std::int64_t next_sequence_ = 0;
};

}  // namespace digits

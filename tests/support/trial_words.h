#pragma once
// What a manager says of trial number `id`, whose job is J<id>.
#include <string>

#include "base/json.h"

namespace attune {

inline std::string final_metric(int id, const std::string& value) {
  return dump_json({{"parameter_id", id},
                    {"trial_job_id", "J" + std::to_string(id)},
                    {"type", "FINAL"},
                    {"sequence", 0},
                    {"value", value}});
}

inline std::string trial_end(int id, const std::string& event = "SUCCEEDED") {
  return dump_json({{"trial_job_id", "J" + std::to_string(id)},
                    {"event", event},
                    {"hyper_params", dump_json({{"parameter_id", id}})}});
}

}  // namespace attune

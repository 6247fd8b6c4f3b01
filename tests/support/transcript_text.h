#pragma once
// Frames as short text: "ID, TR 0, KI A, PA A, TR 3 resume A from c1".
#include <string>
#include <vector>

#include "base/json.h"
#include "protocol/frame.h"

namespace attune {

inline std::string outline(const Frame& frame) {
  const json payload = parse_json(frame.payload).value_or(json());
  if (frame.code == "KI" || frame.code == "PA" || frame.code == "CP") {
    const json& job = payload.is_string() ? payload : payload.at("trial_job_id");
    return frame.code + " " + job.get<std::string>();
  }
  if (frame.code == "CD") return "CD " + payload.at("checkpoint").get<std::string>();
  if (frame.code == "TR" || frame.code == "NO" || frame.code == "SP") {
    std::string text = frame.code + " " + dump_json(payload.at("parameter_id"));
    text += payload.contains("resume_trial_job_id")
                ? " resume " + payload["resume_trial_job_id"].get<std::string>()
                : "";
    text += payload.contains("checkpoint_from")
                ? " from " + payload["checkpoint_from"].get<std::string>()
                : "";
    return text;
  }
  return frame.code;
}

inline std::string outlines(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames) text += (text.empty() ? "" : ", ") + outline(frame);
  return text;
}

}  // namespace attune

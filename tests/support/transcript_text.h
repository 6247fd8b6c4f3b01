#pragma once
// Frames as short text: "ID, TR 0, KI A".
#include <string>
#include <vector>

#include "base/json.h"
#include "protocol/frame.h"

namespace attune {

inline std::string outline(const Frame& frame) {
  const json payload = parse_json(frame.payload).value_or(json());
  if (frame.code == "KI") {
    const json& job = payload.is_string() ? payload : payload.at("trial_job_id");
    return "KI " + job.get<std::string>();
  }
  if (frame.code == "TR" || frame.code == "NO" || frame.code == "SP") {
    return frame.code + " " + dump_json(payload.at("parameter_id"));
  }
  return frame.code;
}

inline std::string outlines(const std::vector<Frame>& frames) {
  std::string text;
  for (const Frame& frame : frames) text += (text.empty() ? "" : ", ") + outline(frame);
  return text;
}

}  // namespace attune

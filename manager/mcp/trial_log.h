#pragma once
#include "manager/mcp/tool.h"

namespace attune {

// The tool logs: the end of what a trial has printed.
Tool trial_log_tool();

}  // namespace attune

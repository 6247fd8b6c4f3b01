#pragma once
// An experiment as one file: the page of the dashboard with the answers that it asks for, for where
// there is no server.
#include <string>

#include "base/result.h"
#include "dashboard/view.h"

namespace attune {

// An HTML document that needs nothing else. `view`: of the store that holds the experiment. It
// holds all trials as numbers, the pictures in their first settings, and the details of the best
// trials. Error: there is no such experiment, or the store cannot be read.
Result<std::string> report_document(View& view, const std::string& experiment);

}  // namespace attune

#pragma once
// A tuner, an assessor or an advisor that the user wrote as a class for NNI. The Python program
// attune.nni_host runs it, as a process plug-in.
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace attune {

struct UserClass {
  std::string key;        // where it stands in the experiment: tuner, assessor, advisor
  std::string name;       // "module.Class"
  std::string directory;  // of the module
  double timeout = 600;   // seconds for one call: NNI has no limit, and a class may train models
};

// {"className": "module.Class", "codeDirectory": "/dir"} of NNI's schema v2, or {"className":
// "Class", "classFileName": "module.py", "codeDir": "/dir"} of v1. Without a folder it is the
// present one. "timeout" is ours. Errors name the key.
Result<UserClass> read_user_class(const json& value, const std::string& key);

// What runs the class: python3 of $PATH with our package, which lies in the installation or the
// source tree of this program. The environment has what NNI tells its own dispatcher. The form is
// that of open_plugin().
json host_of(const UserClass& user_class);

}  // namespace attune

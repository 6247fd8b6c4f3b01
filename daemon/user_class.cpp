#include "daemon/user_class.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

namespace attune {
namespace {

namespace fs = std::filesystem;

// Empty if it is missing.
Result<std::string> text_of(const json& value, const std::string& key, const char* member) {
  const auto found = value.find(member);
  if (found == value.end() || found->is_null()) return std::string();
  if (!found->is_string()) return fail(fmt::format("{}.{}: a string expected", key, member));
  return found->get<std::string>();
}

// "sub/module.py" is the module "sub.module".
Result<std::string> module_of(const std::string& file, const std::string& key) {
  if (fs::path(file).extension() != ".py" || fs::path(file).is_absolute()) {
    return fail(fmt::format("{}.classFileName: a file such as \"my_tuner.py\" expected, not {}",
                            key, dump_json(file)));
  }
  std::string module = fs::path(file).lexically_normal().replace_extension().string();
  std::ranges::replace(module, '/', '.');
  return module;
}

// The user's folders come first.
std::string python_path() {
  const char* const given = std::getenv("PYTHONPATH");
  std::string path = given ? given : "";
  std::error_code error;
  const fs::path own = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const char* place : {"../share/attune/python", "../../../python"}) {
    const fs::path folder = (own / place).lexically_normal();
    if (!fs::is_directory(folder / "attune" / "nni_host", error)) continue;
    path += (path.empty() ? "" : ":") + folder.string();
  }
  return path;
}

Result<double> timeout_of(const json& value, const std::string& key, double fallback) {
  const auto found = value.find("timeout");
  if (found == value.end() || found->is_null()) return fallback;
  constexpr double kMost = 1e6;
  if (!found->is_number() || !(*found > 0) || *found > kMost) {
    return fail(fmt::format("{}.timeout: seconds expected, from above 0 to 1,000,000", key));
  }
  return found->get<double>();
}

}  // namespace

Result<UserClass> read_user_class(const json& value, const std::string& key) {
  UserClass user_class{.key = key, .name = TRY(text_of(value, key, "className")), .directory = ""};
  if (user_class.name.empty()) return fail(key + ".className: a string expected");
  const std::string file = TRY(text_of(value, key, "classFileName"));
  if (!file.empty()) user_class.name = TRY(module_of(file, key)) + "." + user_class.name;
  if (!user_class.name.contains('.')) {
    return fail(fmt::format("{}.className: \"module.Class\" expected, not {}", key,
                            dump_json(value["className"])));
  }
  const char* const member = value.contains("codeDirectory") ? "codeDirectory" : "codeDir";
  user_class.directory = TRY(text_of(value, key, member));
  if (user_class.directory.empty()) user_class.directory = ".";
  std::error_code error;
  const fs::path directory = fs::absolute(user_class.directory, error);
  if (!fs::is_directory(directory, error)) {
    return fail(fmt::format("{}.{}: there is no folder {}", key, member, user_class.directory));
  }
  user_class.directory = directory.lexically_normal().string();
  user_class.timeout = TRY(timeout_of(value, key, user_class.timeout));
  return user_class;
}

json host_of(const UserClass& user_class) {
  json environment = {{"PYTHONPATH", python_path()}};
  for (const char* name : {"NNI_CHECKPOINT_DIRECTORY", "NNI_INCLUDE_INTERMEDIATE_RESULTS",
                           "NNI_LOG_DIRECTORY", "NNI_LOG_LEVEL", "NNI_MODE"}) {
    if (const char* value = std::getenv(name)) environment[name] = value;
  }
  return {{"command",
           {"python3", "-m", "attune.nni_host", "--kind", user_class.key, "--class",
            user_class.name, "--directory", user_class.directory}},
          {"timeout", user_class.timeout},
          {"environment", std::move(environment)}};
}

}  // namespace attune

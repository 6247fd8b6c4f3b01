#include "manager/app/job_environment.h"

#include <algorithm>
#include <iterator>

#include "cluster/batch/slurm_commands.h"
#include "os/atomic_file.h"
#include "os/trust.h"

namespace attune {

Result<void> write_environment(const std::filesystem::path& file,
                               const std::vector<std::string>& environment) {
  std::string text;
  for (const std::string& each : environment) text += each + '\0';
  return write_file_atomically(file.string(), text);
}

Result<std::vector<std::string>> job_environment(const std::string& file,
                                                 const std::vector<std::string>& own) {
  if (file.empty()) return own;
  const std::string text = TRY(read_trusted_file(file));
  std::vector<std::string> environment;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    std::string variable = text.substr(at, end - at);
    if (!variable.empty() && !is_of_job(variable)) environment.push_back(std::move(variable));
    at = end + 1;
  }
  std::ranges::copy_if(own, std::back_inserter(environment), is_of_job);
  return environment;
}

}  // namespace attune

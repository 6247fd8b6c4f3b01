#include "examples/cart_pole/shared_files.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <vector>

#include "base/json.h"
#include "base/saved_numbers.h"
#include "os/atomic_file.h"

namespace cart_pole {

namespace fs = std::filesystem;
using attune::fail;
using attune::json;
using attune::Result;

std::string to_text(const SegmentMeta& meta) {
  return attune::dump_json(
      {{"path", meta.path}, {"length", meta.length}, {"return", meta.episode_return}});
}

Result<SegmentMeta> parse_meta(std::string_view text) {
  const json object = TRY(attune::parse_json(text));
  SegmentMeta meta;
  meta.path = TRY(attune::text_at(object, "path"));
  meta.length = static_cast<std::size_t>(TRY(attune::integer_at(object, "length")));
  meta.episode_return = static_cast<std::size_t>(TRY(attune::integer_at(object, "return")));
  return meta;
}

Result<void> write_shared(const std::string& path, std::string_view bytes) {
  const std::string temporary = path + ".tmp";
  std::ofstream file(temporary, std::ios::binary | std::ios::trunc);
  file << bytes;
  file.close();
  std::error_code error;
  if (file) fs::rename(temporary, path, error);
  if (!file || error) return fail("cannot write " + path);
  return {};
}

Result<void> publish(const std::string& path, const Network& network, std::size_t train_steps) {
  return write_shared(path,
                      attune::dump_json({{"train_steps", train_steps},
                                         {"hidden", network.hidden()},
                                         {"weights", attune::save_numbers(network.weights())}}));
}

Result<std::optional<Policy>> read_policy(const std::string& path) {
  std::error_code error;
  if (!fs::exists(path, error)) return std::nullopt;
  const json object = TRY(attune::parse_json(TRY(attune::read_file(path))));
  Policy policy;
  policy.train_steps = static_cast<std::size_t>(TRY(attune::integer_at(object, "train_steps")));
  policy.hidden = static_cast<std::size_t>(TRY(attune::integer_at(object, "hidden")));
  policy.weights = TRY(attune::numbers_at(object, "weights"));
  if (!std::ranges::all_of(policy.weights, [](double x) { return std::isfinite(x); }))
    return fail(path + ": finite weights are wanted");
  return policy;
}

PolicyReader::PolicyReader(const Settings& settings, const attune::Rng& rng)
    : path_(settings.policy), rng_(rng), network_(settings.hidden, rng_) {}

Result<void> PolicyReader::refresh() {
  std::error_code error;
  const auto written = fs::last_write_time(path_, error);
  if (error || written == seen_) return {};
  const auto policy = TRY(read_policy(path_));
  if (!policy) return {};
  // The learner may have been tuned to another width than this program knows.
  if (policy->hidden != network_.hidden() && policy->hidden >= 1 && policy->hidden <= 4096)
    network_ = Network(policy->hidden, rng_);
  if (policy->weights.size() != network_.weights().size())
    return fail(path_ + ": it has another number of weights than its width says");
  std::ranges::copy(policy->weights, network_.weights().begin());
  train_steps_ = policy->train_steps;
  seen_ = written;
  return {};
}

void remove_oldest(const std::string& folder, std::size_t keep) {
  std::error_code error;
  std::vector<std::pair<fs::file_time_type, fs::path>> files;
  for (fs::directory_iterator each(folder, error), end; !error && each != end;
       each.increment(error)) {
    std::error_code gone;
    const auto written = each->last_write_time(gone);
    if (!gone) files.emplace_back(written, each->path());
  }
  if (files.size() <= keep) return;
  const auto first_kept = files.end() - static_cast<std::ptrdiff_t>(keep);
  std::ranges::nth_element(files, first_kept);
  for (auto each = files.begin(); each != first_kept; ++each) fs::remove(each->second, error);
}

}  // namespace cart_pole

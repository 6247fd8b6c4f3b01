#pragma once
// The files of one learner on the directory that all machines share: its newest policy, and the
// payload of its buffer's items. Written beside, then renamed: whoever reads sees all or nothing.
// They are not flushed to the disk: a machine that fails costs some of them, and nobody waits.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "examples/cart_pole/segment.h"

namespace cart_pole {

struct Policy {
  std::size_t train_steps = 0;
  std::size_t hidden = 0;
  std::vector<double> weights;
};

// What the items of the buffer say of a segment.
struct SegmentMeta {
  std::string path;
  std::size_t length = 0;          // steps
  std::size_t episode_return = 0;  // so far
};
std::string to_text(const SegmentMeta& meta);
attune::Result<SegmentMeta> parse_meta(std::string_view text);

attune::Result<void> write_shared(const std::string& path, std::string_view bytes);
attune::Result<void> publish(const std::string& path, const Network& network,
                             std::size_t train_steps);
// Nothing: none was published yet.
attune::Result<std::optional<Policy>> read_policy(const std::string& path);

// Reads the policy again when there is another one.
class PolicyReader {
 public:
  // Until there is one: a network of random weights, of no steps.
  PolicyReader(const Settings& settings, const attune::Rng& rng);
  attune::Result<void> refresh();
  Network& network() { return network_; }
  std::size_t train_steps() const { return train_steps_; }

 private:
  std::string path_;
  attune::Rng rng_;
  Network network_;
  std::size_t train_steps_ = 0;
  std::filesystem::file_time_type seen_ = {};
};

// All but the newest `keep` files of the folder go: a buffer lets its oldest items go, too, and
// says nothing of it. Whatever number of collectors there is and was, the disk is bounded so.
void remove_oldest(const std::string& folder, std::size_t keep);

}  // namespace cart_pole

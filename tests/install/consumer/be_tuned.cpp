// A program of a user: has a function that can be tuned.
#include <attune/trial/trial_function.h>

#include <cstdio>
#include <stdexcept>
#include <string>

namespace {

class Host final : public attune::StatusReporter {
 public:
  void report(const attune::json& metrics) override { sum_ += metrics.get<double>(); }
  std::string trial_name() const override { return "trial_1"; }
  std::string trial_id() const override { return "1"; }
  std::filesystem::path log_directory() const override { return {}; }
  double sum() const { return sum_; }

 private:
  double sum_ = 0;
};

}  // namespace

int main() {
  const attune::TrialFunction function = [](const attune::json& config,
                                            attune::StatusReporter& reporter) {
    reporter.report(config.at("x"));
    reporter.make_checkpoint_dir(1);  // the library's: this host keeps none
  };
  Host host;
  try {
    function({{"x", 2.5}}, host, std::nullopt);
  } catch (const std::runtime_error&) {
    if (host.sum() != 2.5) return 1;
    std::puts("was tuned");
    return 0;
  }
  return 1;
}

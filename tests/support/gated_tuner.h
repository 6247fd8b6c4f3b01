#pragma once
// A tuner that stops at a gate: while there is a pipe (mkfifo) at the path that it is given, it
// waits there before it proposes anything, until somebody has opened the pipe and closed it again.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <string>

#include "tuners/registry.h"

namespace attune {

class GatedTuner : public Tuner {
 public:
  explicit GatedTuner(std::string gate) : gate_(std::move(gate)) {}

  Result<void> set_space(const Space& space) override {
    size_ = space.params.size();
    return {};
  }
  std::vector<Answer> ask(std::span<const TrialId> ids) override {
    if (const int gate = ::open(gate_.c_str(), O_RDONLY | O_CLOEXEC); gate >= 0) {
      char byte = 0;
      while (::read(gate, &byte, 1) > 0) {
      }
      ::close(gate);
    }
    return ask_each(ids, [this](TrialId) {
      return Proposal{.point = Point{std::vector<double>(size_, 1.0 / ++asked_)}};
    });
  }
  void tell(std::span<const Outcome> outcomes) override { told_ += outcomes.size(); }
  json save() const override { return {{"asked", asked_}, {"told", told_}}; }
  Result<void> load(const json& state) override {
    asked_ = state.at("asked").get<int>();
    told_ = state.at("told").get<std::size_t>();
    return {};
  }

 private:
  const std::string gate_;
  std::size_t size_ = 0;
  int asked_ = 0;
  std::size_t told_ = 0;
};

inline const TunerEntry gated_entry = {
    .name = "Gated",
    .aliases = {},
    .summary = "waits at a gate, for tests",
    .arguments = {{.name = "gate", .type = Argument::Type::text, .fallback = ""}},
    .maximizes = false,
    .make = [](const json& args, const Context&, Rng) -> Result<std::unique_ptr<Tuner>> {
      return std::make_unique<GatedTuner>(args.at("gate").get<std::string>());
    }};

// The other side of it.
class Gate {
 public:
  explicit Gate(std::string path) : path_(std::move(path)) {}
  ~Gate() { open(); }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  const std::string& path() const { return path_; }
  void shut() { ::mkfifo(path_.c_str(), 0600); }
  // Until the tuner waits.
  void await() { fd_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC); }
  void open() {
    ::unlink(path_.c_str());
    if (fd_ >= 0) ::close(std::exchange(fd_, -1));
  }

 private:
  const std::string path_;
  int fd_ = -1;
};

}  // namespace attune

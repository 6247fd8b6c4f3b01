#pragma once
// Several tuners on one experiment: each hears of every trial, as if it had been adopted where
// another proposed it. Who proposes next is the rule of the tuner that holds the portfolio.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tuners/registry.h"
#include "tuners/tuner.h"

namespace attune {

// Not thread safe. Functions are as those of Tuner.
class Portfolio {
 public:
  // A tuner that neither wants reports nor has parameters() of its own; its random numbers depend
  // on its name and `rng` alone. Names are different.
  Result<void> add(const TunerEntry& entry, const json& arguments, const Context& context,
                   const Rng& rng);
  std::size_t size() const { return members_.size(); }
  const std::string& name(std::size_t i) const { return members_[i].name; }

  // On the error of one, which is named, all are as before.
  Result<void> set_space(const Space& space);

  // The answer of `member`, or where it has no proposal that of the next one after it that has.
  // `who` becomes the one that answered.
  Answer ask(TrialId id, std::size_t& who);

  void withdraw(TrialId id);
  void tell(std::span<const Outcome> outcomes);
  void adopt(TrialId id, const Point& point);
  void skip_ahead();
  json save() const;  // by names
  Result<void> load(const json& state);

 private:
  struct Member {
    std::string name;
    std::unique_ptr<Tuner> tuner;
  };

  std::vector<Member> members_;
  std::optional<Space> space_;  // nothing before the first set_space
};

}  // namespace attune

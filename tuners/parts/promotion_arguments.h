#pragma once
// The arguments of ASHA and PASHA, and how they become a PromotionTuner.
#include <memory>
#include <string>
#include <vector>

#include "tuners/parts/promotion_tuner.h"
#include "tuners/registry.h"

namespace attune {

// Those that say where the rungs are, and `searcher`.
std::vector<Argument> promotion_arguments();
// `owner`: the name of the tuner, for errors.
Result<PromotionTuner::Options> promotion_options(const std::string& owner, const json& args,
                                                  const Context& context);
Result<std::unique_ptr<Tuner>> make_promotion_tuner(const std::string& owner, const json& args,
                                                    PromotionTuner::Options options,
                                                    const TunerContext& context, const Rng& rng);

}  // namespace attune

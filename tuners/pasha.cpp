// PASHA: ASHA whose highest rung rises only while two rungs rank the trials differently, so that
// little is spent on a ranking that is clear early. (Bohdal et al., "PASHA: Efficient HPO and NAS
// with Progressive Resource Allocation", ICLR 2023.) The noise of the learning curves says which
// ranks differ (rungs/pasha_noise.h). At the end the best trials may have used far less than max_t.
#include "tuners/parts/promotion_arguments.h"

namespace attune {

extern const TunerEntry pasha_entry = {
    .name = "PASHA",
    .aliases = {},
    .summary = "ASHA that gives more resource only while it changes the ranking",
    .arguments = promotion_arguments(),
    .maximizes = false,
    .wants_reports = true,
    .make = [](const json& args, const TunerContext& context,
               Rng rng) -> Result<std::unique_ptr<Tuner>> {
      auto options = TRY(promotion_options("PASHA", args, context));
      options.grows = true;
      return make_promotion_tuner("PASHA", args, std::move(options), context, rng);
    }};

}  // namespace attune

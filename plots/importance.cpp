// The picture of how much each parameter matters.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "plots/panel.h"
#include "plots/pictures.h"

namespace attune::plots {
namespace {

constexpr double kBarHeight = 22;  // with the gap to the next one

}  // namespace

Result<std::string> picture(const Importance& importance, const PageSettings& page) {
  Canvas canvas = TRY(Canvas::make(page, importance.title));
  std::vector<Importance::Share> shares = importance.shares;
  std::erase_if(shares, [](const auto& share) { return !std::isfinite(share.share); });
  std::ranges::stable_sort(shares, std::greater{}, &Importance::Share::share);
  const auto room = static_cast<std::size_t>(std::max((page.height - 120) / kBarHeight, 1.0));
  const std::size_t shown = std::min(shares.size(), room);
  std::vector<LegendEntry> legend;
  if (std::ranges::any_of(shares, &Importance::Share::pair)) {
    legend = {{"a parameter alone", LegendEntry::Mark::box, series_colour(0)},
              {"two together, beyond that", LegendEntry::Mark::box, series_colour(1)}};
  }
  const std::string note = shares.empty() ? "nothing is known yet"
                           : shown < shares.size()
                               ? fmt::format("{} more have at most {}", shares.size() - shown,
                                             number_text(shares[shown].share, 2))
                               : "";
  const Box rest = draw_heading(canvas, importance.title, legend, note);
  std::vector<std::string> names;
  for (std::size_t k = shown; k-- > 0;) names.push_back(shares[k].name);  // the first on top
  const double most = shares.empty() ? 1 : std::max(shares.front().share, 1e-3);
  // A panel with names at the ticks, each of which has a row.
  const Panel panel(canvas, rest, Axis(0, 1.12 * most), Axis::of_names(std::move(names)), "share",
                    "");
  const double height =
      panel.box().height / (static_cast<double>(std::max<std::size_t>(shown, 1)) + 0.2);
  for (std::size_t k = 0; k < shown; ++k) {
    const Place end = panel.at(std::max(shares[k].share, 0.0), static_cast<double>(shown - 1 - k));
    const double bar = std::min(0.66 * height, 26.0);
    canvas.rectangle({panel.box().left, end.y - bar / 2, end.x - panel.box().left, bar},
                     series_colour(shares[k].pair ? 1 : 0));
    canvas.text({end.x + 5, end.y}, fmt::format("{:.2f}", shares[k].share), kTickStyle);
  }
  return canvas.finish();
}

}  // namespace attune::plots

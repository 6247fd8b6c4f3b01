#pragma once
// The pictures of an experiment, as bytes of an SVG or a PNG file.
//
// All texts are foreign: names of parameters, metrics and workers may have any content and length
// (plots/label.h). Numbers that are not finite, and on a logarithmic scale those not above 0, are
// left out; without any others there is an empty picture with a note that says so. Columns of one
// picture have the same length. More than 5,000 marks are drawn as an image, so that an SVG stays
// below about 1 MB. Errors: a size that is not possible; what the page has no room for.
#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"
#include "plots/axis.h"
#include "plots/canvas.h"

namespace attune::plots {

struct Objective {
  std::string name;
  bool maximise = false;
};

// Values of a parameter or an objective. With names the values are their indices.
struct Column {
  std::string name;
  std::vector<double> values;
  Scale scale = Scale::linear;
  std::vector<std::string> names = {};
};

// The results of the trials, and the best one so far. Results far worse than most lie at the edge.
struct History {
  std::string title;
  Objective objective;
  std::vector<double> trials;     // their numbers, in the order in which the results came
  std::vector<double> results;    // NaN: none
  std::vector<bool> broken = {};  // which results break a limit, and are no best ones; empty: none
  Scale scale = Scale::linear;
};

// Intermediate results over the steps; over the others a band, in which most curves lie.
struct Curve {
  std::string name;
  std::vector<double> steps, values;  // the steps ascend
};
struct Band {
  std::vector<double> steps, low, middle, high;
};
struct Curves {
  std::string title;
  std::string step_name = "step";
  Objective objective;
  std::vector<Curve> best = {};    // each in a colour, and named: at most kSeriesColours
  std::vector<Curve> others = {};  // all in grey
  Band band = {};
  Scale scale = Scale::linear;
};

// An axis for each parameter, and a line for each trial in the colour of its result, the best on
// top. Axes that the page has no room for are left out, the last ones first.
struct Parallel {
  std::string title;
  std::vector<Column> parameters;  // NaN: not active, a gap
  Column results;
  bool maximise = false;
};

// Bars, the largest first.
struct Importance {
  struct Share {
    std::string name;
    double share = 0;  // in [0, 1]
    bool pair = false;
  };
  std::string title;
  std::vector<Share> shares;
};

// What a model expects along parameters, one panel each, with the same axis of results: mean, and
// two deviations to each side.
struct Slice {
  struct Panel {
    Column parameter;  // where the mean is given
    std::vector<double> mean, deviation;
    std::vector<double> trials = {}, results = {};  // dots: the parameter's value, the result
    double at = 0;                                  // the value of the point; NaN: none
  };
  std::string title;
  Objective objective;
  std::vector<Panel> panels;  // 1 to 12
};

// What a model expects over two parameters.
struct Contour {
  std::string title;
  Objective objective;
  Column x, y;               // at least 2 different values each, ascending
  std::vector<double> mean;  // mean[j * x.values.size() + i]
  std::vector<double> trials_x = {}, trials_y = {};
  Place best = {};  // values; NaN: none
};

// When which trial ran where.
struct Timeline {
  std::string title;
  std::vector<double> started, ended;  // seconds; not ended: NaN
  std::vector<std::size_t> lanes;      // indices into lane_names, such as workers
  std::vector<std::size_t> states;     // indices into state_names
  std::vector<std::string> lane_names, state_names;
  double now = 0;  // seconds, where what has not ended is drawn to
};

// Trade-offs: a panel for each two of the first four objectives.
struct Front {
  std::string title;
  std::vector<Objective> objectives;         // at least 2
  std::vector<std::vector<double>> results;  // of each objective
  std::vector<std::size_t> front;            // indices of the results that no other dominates
  std::vector<double> limits = {};           // of each objective, NaN: none; empty: none
};

Result<std::string> picture(const History& history, const PageSettings& page);
Result<std::string> picture(const Curves& curves, const PageSettings& page);
Result<std::string> picture(const Parallel& parallel, const PageSettings& page);
Result<std::string> picture(const Importance& importance, const PageSettings& page);
Result<std::string> picture(const Slice& slice, const PageSettings& page);
Result<std::string> picture(const Contour& contour, const PageSettings& page);
Result<std::string> picture(const Timeline& timeline, const PageSettings& page);
Result<std::string> picture(const Front& front, const PageSettings& page);

}  // namespace attune::plots

#pragma once
// A small picture of each kind.
#include <algorithm>
#include <cmath>

#include "plots/pictures.h"
#include "tests/plots/image.h"

namespace attune::plots::pictures_test {

using Numbers = std::vector<double>;

inline constexpr PageSettings kPng = {.format = Format::png, .pixels = 1};

template <class Data>
std::string svg(const Data& data) {
  return picture(data, {}).value();
}
template <class Data>
Image image(const Data& data) {
  return image_of(picture(data, kPng).value());
}
// Without what is above the panels, such as the colours of the legend.
template <class Data>
Image data_image(const Data& data) {
  Image below = image(data);
  std::fill_n(below.rgb.begin(), 3 * 720 * 55, static_cast<unsigned char>(255));
  return below;
}

inline History history(const Numbers& results) {
  History all{.title = "title", .objective = {"loss"}, .trials = {}, .results = results};
  for (std::size_t k = 0; k < results.size(); ++k) all.trials.push_back(static_cast<double>(k + 1));
  return all;
}

inline Parallel parallel(std::size_t trials) {
  Parallel all{.title = "title",
               .parameters = {{"rate", {}, Scale::logarithmic}, {"way", {}}, {"gap", {}}},
               .results = {"loss", {}}};
  all.parameters[1].names = {"a", "b"};
  for (std::size_t k = 0; k < trials; ++k) {
    const double part = static_cast<double>(k % 11) / 10;
    all.parameters[0].values.push_back(std::pow(10, -4 * part));
    all.parameters[1].values.push_back(static_cast<double>(k % 2));
    all.parameters[2].values.push_back(k % 3 == 0 ? NAN : part);
    all.results.values.push_back(part);
  }
  return all;
}

inline Slice slice() {
  Slice all{.title = "title", .objective = {"loss"}, .panels = {}};
  Slice::Panel rate{.parameter = {"rate", {}, Scale::logarithmic}, .mean = {}, .deviation = {}};
  for (int k = 0; k <= 20; ++k) {
    rate.parameter.values.push_back(std::pow(10, k / 5.0 - 4));
    rate.mean.push_back(k * 0.1);
    rate.deviation.push_back(0.05);
  }
  rate.trials = {1e-3, 1e-2};
  rate.results = {0.5, 1};
  rate.at = 1e-2;
  all.panels.push_back(rate);
  all.panels.push_back({.parameter = {"way", {0, 1}, Scale::linear, {"a", "b"}},
                        .mean = {0.5, 1},
                        .deviation = {0.1, 0.2},
                        .at = NAN});
  return all;
}

inline Contour contour() {
  Contour all{.title = "title",
              .objective = {"loss"},
              .x = {"rate", {0.001, 0.01, 0.1}, Scale::logarithmic},
              .y = {"width", {1, 2}},
              .mean = {0, 5, 10, 0, 5, 10},
              .trials_x = {},
              .trials_y = {},
              .best = {NAN, NAN}};
  return all;
}

inline Timeline timeline() {
  return {.title = "title",
          .started = {100, 110},
          .ended = {110, NAN},
          .lanes = {0, 1},
          .states = {0, 1},
          .lane_names = {"first", "second"},
          .state_names = {"succeeded", "running", "failed"},
          .now = 140};
}

inline Front front() {
  return {.title = "title",
          .objectives = {{"loss"}, {"speed", true}},
          .results = {{1, 2, 3}, {1, 3, 2}},
          .front = {0, 1}};
}

}  // namespace attune::plots::pictures_test

#include "tests/plots/image.h"

#include <cairo.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace attune::plots {
namespace {

bool alike(Colour a, Colour b, double tolerance) {
  return std::abs(a.red - b.red) <= tolerance && std::abs(a.green - b.green) <= tolerance &&
         std::abs(a.blue - b.blue) <= tolerance;
}

}  // namespace

Image image_of(const std::string& png) {
  std::string_view rest = png;
  const auto read = [](void* from, unsigned char* to, unsigned int count) {
    auto& bytes = *static_cast<std::string_view*>(from);
    if (bytes.size() < count) return CAIRO_STATUS_READ_ERROR;
    std::memcpy(to, bytes.data(), count);
    bytes.remove_prefix(count);
    return CAIRO_STATUS_SUCCESS;
  };
  cairo_surface_t* surface = cairo_image_surface_create_from_png_stream(read, &rest);
  Image image;
  if (cairo_surface_status(surface) == CAIRO_STATUS_SUCCESS) {
    image.width = cairo_image_surface_get_width(surface);
    image.height = cairo_image_surface_get_height(surface);
    const unsigned char* row = cairo_image_surface_get_data(surface);
    for (int y = 0; y < image.height; ++y) {
      for (int x = 0; x < image.width; ++x) {
        std::uint32_t pixel = 0;
        std::memcpy(&pixel, row + std::ptrdiff_t{4} * x, 4);
        for (const int shift : {16, 8, 0}) {
          image.rgb.push_back(static_cast<unsigned char>(pixel >> shift & 255));
        }
      }
      row += cairo_image_surface_get_stride(surface);
    }
  }
  cairo_surface_destroy(surface);
  return image;
}

Colour Image::at(double x, double y) const {
  const auto column = static_cast<std::size_t>(x), row = static_cast<std::size_t>(y);
  const std::size_t first = 3 * (row * static_cast<std::size_t>(width) + column);
  if (x < 0 || x >= width || y < 0 || y >= height) return {-1, -1, -1};
  return {rgb[first] / 255.0, rgb[first + 1] / 255.0, rgb[first + 2] / 255.0};
}

bool Image::near(double x, double y, Colour colour, double tolerance) const {
  return alike(at(x, y), colour, tolerance);
}

Box Image::box_of(Colour colour, double scale, double tolerance) const {
  double left = width, right = 0, top = height, bottom = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      if (!near(x, y, colour, tolerance)) continue;
      left = std::min<double>(left, x);
      right = std::max<double>(right, x + 1);
      top = std::min<double>(top, y);
      bottom = std::max<double>(bottom, y + 1);
    }
  }
  if (right <= left) return {};
  return {left / scale, top / scale, (right - left) / scale, (bottom - top) / scale};
}

std::size_t Image::count(Colour colour, double tolerance) const {
  std::size_t found = 0;
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) found += near(x, y, colour, tolerance) ? 1 : 0;
  }
  return found;
}

std::size_t occurrences(std::string_view text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + part.size())) {
    ++found;
  }
  return found;
}

std::vector<std::string> texts_of(const std::string& svg) {
  const std::size_t begin = svg.find("<desc>"), end = svg.find("</desc>");
  std::vector<std::string> texts;
  if (begin == svg.npos || end == svg.npos) return texts;
  std::string_view rest = std::string_view(svg).substr(begin + 6, end - begin - 6);
  while (!rest.empty()) {
    const std::size_t line = std::min(rest.find('\n'), rest.size());
    texts.emplace_back(rest.substr(0, line));
    rest.remove_prefix(std::min(line + 1, rest.size()));
  }
  return texts;
}

bool has_text(const std::string& svg, std::string_view text) {
  return std::ranges::any_of(texts_of(svg), [&](const std::string& each) { return each == text; });
}

}  // namespace attune::plots

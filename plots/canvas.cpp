#include "plots/canvas.h"

#include <cairo-svg.h>
#include <cairo.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "plots/label.h"

namespace attune::plots {
namespace {

constexpr double kMostPixels = 50e6;
constexpr double kImagePixels = 350'000;  // of images over a whole page, in an SVG
constexpr double kImageScale = 1.5;       // and at most so many for each unit
constexpr std::size_t kMostTexts = 1000;  // in the description

struct Free {
  void operator()(cairo_surface_t* surface) const { cairo_surface_destroy(surface); }
  void operator()(cairo_t* context) const { cairo_destroy(context); }
  void operator()(cairo_font_options_t* options) const { cairo_font_options_destroy(options); }
};
using Surface = std::unique_ptr<cairo_surface_t, Free>;
using Context = std::unique_ptr<cairo_t, Free>;

// Exceptions must not pass through cairo.
cairo_status_t append(void* to, const unsigned char* bytes, unsigned int count) {
  try {
    static_cast<std::string*>(to)->append(reinterpret_cast<const char*>(bytes), count);
    return CAIRO_STATUS_SUCCESS;
  } catch (...) {
    return CAIRO_STATUS_NO_MEMORY;
  }
}

std::uint32_t pixel(Colour colour) {
  const auto part = [&](double x) {
    return static_cast<std::uint32_t>(std::lround(255 * x * colour.opacity));
  };
  return part(1) << 24 | part(colour.red) << 16 | part(colour.green) << 8 | part(colour.blue);
}

// Each part of each pixel becomes a multiple of 17: an image of few different pixels compresses
// well. Parts stay below the opacity, by which cairo has multiplied them.
void coarsen(cairo_surface_t* image) {
  cairo_surface_flush(image);
  unsigned char* row = cairo_image_surface_get_data(image);
  const int width = cairo_image_surface_get_width(image);
  for (int y = 0; y < cairo_image_surface_get_height(image); ++y) {
    for (int x = 0; x < 4 * width; ++x) {
      row[x] = static_cast<unsigned char>((row[x] + 8) / 17 * 17);
    }
    row += cairo_image_surface_get_stride(image);
  }
  cairo_surface_mark_dirty(image);
}

}  // namespace

struct Canvas::Impl {
  PageSettings settings;
  std::string title;
  std::string bytes = {};  // of an SVG, so far
  Surface surface = {};
  Context context = {};
  std::vector<std::string> texts = {};

  cairo_t* to() const { return context.get(); }

  // cairo's coordinates have 24 bits before the point.
  static double limited(double x) { return std::clamp(x, -1e5, 1e5); }
  void move(Place p) const { cairo_move_to(to(), limited(p.x), limited(p.y)); }
  void go(Place p) const { cairo_line_to(to(), limited(p.x), limited(p.y)); }
  void path(std::span<const Place> places) const {
    cairo_new_path(to());
    move(places.front());
    for (const Place& place : places.subspan(1)) go(place);
  }
  void box(const Box& b) const {
    cairo_new_path(to());
    cairo_rectangle(to(), limited(b.left), limited(b.top), limited(b.width), limited(b.height));
  }
  void colour(Colour c) const { cairo_set_source_rgba(to(), c.red, c.green, c.blue, c.opacity); }
  void stroke(const Stroke& s) const {
    colour(s.colour);
    cairo_set_line_width(to(), s.width);
    cairo_set_line_cap(to(), CAIRO_LINE_CAP_BUTT);
    cairo_set_line_join(to(), CAIRO_LINE_JOIN_ROUND);
    const double dash[] = {4, 3};
    cairo_set_dash(to(), dash, s.dashed ? 2 : 0, 0);
    cairo_stroke(to());
  }

  void font(const TextStyle& style) const {
    cairo_select_font_face(to(), "sans-serif", CAIRO_FONT_SLANT_NORMAL,
                           style.bold ? CAIRO_FONT_WEIGHT_BOLD : CAIRO_FONT_WEIGHT_NORMAL);
    cairo_set_font_size(to(), style.size);
  }

  // Draws with other settings than the rest; a font is chosen before each use.
  void prepare(cairo_t* fresh) const {
    // Without hinting letters have the same widths at all sizes and in both formats.
    const std::unique_ptr<cairo_font_options_t, Free> options(cairo_font_options_create());
    cairo_font_options_set_hint_style(options.get(), CAIRO_HINT_STYLE_NONE);
    cairo_font_options_set_hint_metrics(options.get(), CAIRO_HINT_METRICS_OFF);
    cairo_font_options_set_antialias(options.get(), CAIRO_ANTIALIAS_GRAY);
    cairo_set_font_options(fresh, options.get());
  }

  // Paints an image over a box.
  void paint(cairo_surface_t* image, const Box& b, cairo_filter_t filter) const {
    const double width = cairo_image_surface_get_width(image);
    const double height = cairo_image_surface_get_height(image);
    cairo_save(to());
    box(b);
    cairo_clip(to());
    cairo_translate(to(), b.left, b.top);
    cairo_scale(to(), b.width / width, b.height / height);
    cairo_set_source_surface(to(), image, 0, 0);
    cairo_pattern_set_filter(cairo_get_source(to()), filter);
    cairo_pattern_set_extend(cairo_get_source(to()), CAIRO_EXTEND_PAD);
    cairo_paint(to());
    cairo_restore(to());
  }

  Result<void> check() const {
    const cairo_status_t status = cairo_status(to());
    if (status == CAIRO_STATUS_SUCCESS) return {};
    return fail(fmt::format("the picture cannot be drawn: {}", cairo_status_to_string(status)));
  }

  // Title and texts for those who cannot see the picture.
  std::string description() const {
    std::string text = "<title>" + xml_text(title) + "</title>\n<desc>";
    for (const std::string& each : texts) text += xml_text(each) + "\n";
    return text + "</desc>\n";
  }
};

Canvas::Canvas(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Canvas::Canvas(Canvas&&) noexcept = default;
Canvas& Canvas::operator=(Canvas&&) noexcept = default;
Canvas::~Canvas() = default;

Result<Canvas> Canvas::make(const PageSettings& settings, std::string_view title) {
  const auto within = [](double x, double low, double high) { return x >= low && x <= high; };
  if (!within(settings.width, 100, 10000) || !within(settings.height, 100, 10000)) {
    return fail(fmt::format("a picture of {} x {} is not possible: each side has 100 to 10000",
                            settings.width, settings.height));
  }
  auto impl = std::make_unique<Impl>(Impl{.settings = settings, .title = label(title, 200)});
  if (settings.format == Format::svg) {
    impl->surface.reset(
        cairo_svg_surface_create_for_stream(append, &impl->bytes, settings.width, settings.height));
    cairo_svg_surface_set_document_unit(impl->surface.get(), CAIRO_SVG_UNIT_PX);
  } else {
    const double scale = settings.pixels;
    const double width = std::ceil(settings.width * scale);
    const double height = std::ceil(settings.height * scale);
    if (!within(scale, 0.5, 8) || !(width * height <= kMostPixels)) {
      return fail(
          fmt::format("a PNG of {} x {} with {} pixels for each unit is not possible: it has "
                      "0.5 to 8, and at most 50 million in all",
                      settings.width, settings.height, scale));
    }
    impl->surface.reset(cairo_image_surface_create(CAIRO_FORMAT_RGB24, static_cast<int>(width),
                                                   static_cast<int>(height)));
    cairo_surface_set_device_scale(impl->surface.get(), scale, scale);
  }
  impl->context.reset(cairo_create(impl->surface.get()));
  impl->prepare(impl->to());
  TRY(impl->check());
  Canvas canvas(std::move(impl));
  canvas.rectangle(canvas.page(), kPaper);
  return canvas;
}

Box Canvas::page() const { return {0, 0, impl_->settings.width, impl_->settings.height}; }

void Canvas::line(std::span<const Place> places, const Stroke& stroke) {
  if (places.size() < 2) return;
  impl_->path(places);
  impl_->stroke(stroke);
}

void Canvas::area(std::span<const Place> places, Colour colour) {
  if (places.size() < 3) return;
  impl_->path(places);
  cairo_close_path(impl_->to());
  impl_->colour(colour);
  cairo_fill(impl_->to());
}

void Canvas::rectangle(const Box& box, Colour colour) {
  impl_->box(box);
  impl_->colour(colour);
  cairo_fill(impl_->to());
}

void Canvas::frame(const Box& box, const Stroke& stroke) {
  impl_->box(box);
  impl_->stroke(stroke);
}

void Canvas::dots(std::span<const Place> places, double radius, Colour colour) {
  if (places.empty()) return;
  cairo_t* to = impl_->to();
  cairo_new_path(to);
  // A line to where it began, with round ends, is a disc: a tenth of the bytes of a circle's
  // curves.
  for (const Place& place : places) {
    impl_->move(place);
    impl_->go(place);
  }
  impl_->colour(colour);
  cairo_set_dash(to, nullptr, 0, 0);
  cairo_set_line_width(to, 2 * radius);
  cairo_set_line_cap(to, CAIRO_LINE_CAP_ROUND);
  cairo_stroke(to);
}

void Canvas::ring(Place place, double radius, const Stroke& stroke) {
  cairo_new_path(impl_->to());
  cairo_arc(impl_->to(), Impl::limited(place.x), Impl::limited(place.y), radius, 0,
            2 * std::numbers::pi);
  cairo_close_path(impl_->to());
  impl_->stroke(stroke);
}

void Canvas::cells(const Box& box, std::size_t columns, std::span<const Colour> colours,
                   bool smooth) {
  const std::size_t rows = columns > 0 ? colours.size() / columns : 0;
  if (rows == 0) return;
  const Surface image(cairo_image_surface_create(CAIRO_FORMAT_ARGB32, static_cast<int>(columns),
                                                 static_cast<int>(rows)));
  if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS) return;
  unsigned char* row = cairo_image_surface_get_data(image.get());
  for (std::size_t j = 0; j < rows; ++j) {
    for (std::size_t i = 0; i < columns; ++i) {
      reinterpret_cast<std::uint32_t*>(row)[i] = pixel(colours[j * columns + i]);
    }
    row += cairo_image_surface_get_stride(image.get());
  }
  cairo_surface_mark_dirty(image.get());
  impl_->paint(image.get(), box, smooth ? CAIRO_FILTER_BILINEAR : CAIRO_FILTER_NEAREST);
}

void Canvas::text(Place place, std::string_view text, const TextStyle& style) {
  const std::string line = label(text);
  if (line.empty()) return;
  cairo_t* to = impl_->to();
  impl_->font(style);
  cairo_text_extents_t extents;
  cairo_text_extents(to, line.c_str(), &extents);
  cairo_font_extents_t font;
  cairo_font_extents(to, &font);
  // Between the base line and the top of capitals, about 0.73 of the font, so that digits are
  // centred at a tick.
  const double up = style.up * 0.73 * style.size;
  cairo_save(to);
  cairo_translate(to, Impl::limited(place.x), Impl::limited(place.y));
  if (style.upright) cairo_rotate(to, -std::numbers::pi / 2);
  cairo_move_to(to, -style.across * extents.x_advance, up);
  impl_->colour(style.colour);
  cairo_show_text(to, line.c_str());
  cairo_restore(to);
  if (impl_->texts.size() < kMostTexts) impl_->texts.push_back(line);
}

double Canvas::text_width(std::string_view text, const TextStyle& style) {
  const std::string line = label(text);
  impl_->font(style);
  cairo_text_extents_t extents;
  cairo_text_extents(impl_->to(), line.c_str(), &extents);
  return extents.x_advance;
}

std::string Canvas::fitted(std::string_view text, double width, const TextStyle& style) {
  std::string line = label(text);
  if (text_width(line, style) <= width) return line;
  // Halving: the width grows with the number of characters.
  std::size_t fits = 1, not_fits = 120;
  while (not_fits - fits > 1) {
    const std::size_t middle = (fits + not_fits) / 2;
    (text_width(label(text, middle), style) <= width ? fits : not_fits) = middle;
  }
  return label(text, fits);
}

void Canvas::clipped(const Box& box, const std::function<void()>& draw) {
  cairo_save(impl_->to());
  impl_->box(box);
  cairo_clip(impl_->to());
  draw();
  cairo_restore(impl_->to());
}

void Canvas::as_image(const Box& box, const std::function<void()>& draw) {
  if (impl_->settings.format == Format::png) return clipped(box, draw);
  // By the page, so that the images of several panels together have no more pixels.
  const double area = impl_->settings.width * impl_->settings.height;
  const double scale = std::min(kImageScale, std::sqrt(kImagePixels / area));
  const auto pixels = [&](double length) {
    return std::max(static_cast<int>(std::ceil(length * scale)), 1);
  };
  const Surface image(
      cairo_image_surface_create(CAIRO_FORMAT_ARGB32, pixels(box.width), pixels(box.height)));
  Context fresh(cairo_create(image.get()));
  cairo_scale(fresh.get(), pixels(box.width) / box.width, pixels(box.height) / box.height);
  cairo_translate(fresh.get(), -box.left, -box.top);
  impl_->prepare(fresh.get());
  std::swap(impl_->context, fresh);
  draw();
  std::swap(impl_->context, fresh);
  fresh.reset();
  if (cairo_surface_status(image.get()) != CAIRO_STATUS_SUCCESS) return;
  coarsen(image.get());
  impl_->paint(image.get(), box, CAIRO_FILTER_BILINEAR);
}

Result<std::string> Canvas::finish() {
  TRY(impl_->check());
  impl_->context.reset();
  std::string& bytes = impl_->bytes;
  cairo_surface_t* surface = impl_->surface.get();
  cairo_status_t status = CAIRO_STATUS_SUCCESS;
  if (impl_->settings.format == Format::png) {
    status = cairo_surface_write_to_png_stream(surface, append, &bytes);
  }
  cairo_surface_finish(surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(surface);
  if (status != CAIRO_STATUS_SUCCESS) {
    return fail(fmt::format("the picture cannot be written: {}", cairo_status_to_string(status)));
  }
  if (impl_->settings.format == Format::svg) {
    const std::size_t element = bytes.find("<svg");
    const std::size_t end = element == bytes.npos ? element : bytes.find('>', element);
    if (end == bytes.npos) return fail("the picture cannot be written: cairo wrote no SVG");
    bytes.insert(end + 1, "\n" + impl_->description());
  }
  return std::move(bytes);
}

}  // namespace attune::plots

#ifdef __SANITIZE_ADDRESS__
// fontconfig keeps about a kilobyte for each process in which it finds a font, and no longer knows
// where. Here, so that every program that draws has this.
// NOLINTNEXTLINE(bugprone-reserved-identifier): the sanitizer's name
extern "C" const char* __lsan_default_suppressions() { return "leak:libfontconfig\n"; }
#endif

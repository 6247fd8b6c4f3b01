#include "manager/experiment/experiment_space.h"

#include <fmt/format.h>

#include <tuple>
#include <utility>
#include <vector>

#include "manager/experiment/preparation.h"
#include "manager/experiment/user_text.h"
#include "space/constraint.h"
#include "space/parse.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

// Reads the search space of a file's text. A .json file is read by the JSON reader, which accepts
// files that are too large for the YAML reader, but gives no lines. If there are mistakes, the text
// is read once more as YAML to get their lines.
SpaceSection read_space_text(const std::string& text, const fs::path& path, Findings& findings) {
  YamlDocument document;
  const bool plain_json = path.extension() == ".json";
  if (plain_json) {
    std::optional<std::size_t> wrong_at;
    auto value = parse_json(text, {}, &wrong_at);
    if (!value) {
      const Mark mark = wrong_at ? mark_at(text, *wrong_at) : Mark{0, 0};
      findings.add({path.string(), "", mark, value.error().message});
      return {};
    }
    document = YamlDocument::without_places(*std::move(value));
  } else {
    auto parsed = parse_yaml(text, path.string(), findings);
    if (!parsed) return {};
    document = *std::move(parsed);
  }
  std::vector<SpaceFlaw> flaws;
  SpaceSection result;
  result.space = parse_space(document.value, flaws);
  result.sound = flaws.empty();
  if (plain_json && !result.sound) {
    Findings none;
    if (auto again = parse_yaml(text, path.string(), none))
      document.marks = std::move(again->marks);
  }
  for (const SpaceFlaw& flaw : flaws)
    findings.add({path.string(), flaw.place, document.mark(flaw.place), flaw.message});
  result.value = std::move(document.value);
  return result;
}

void read_constraints(const Section& top, Space& space) {
  const std::vector<std::string> texts = top.texts("constraints");
  if (top.wrong("constraints")) return;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (const auto checked = check_constraint(space, texts[i]); !checked)
      top.error(fmt::format("constraints[{}]", i),
                fmt::format("\"{}\": {}", texts[i], checked.error().message));
  }
  if (!top.wrong("constraints")) std::ignore = set_constraints(space, texts);
}

}  // namespace

SpaceSection read_space_section(const Section& top, const fs::path& base) {
  SpaceSection result;
  const auto file = top.text("searchSpaceFile");
  const auto inline_space = top.section("searchSpace");
  const bool both = top.find("searchSpaceFile") != nullptr && top.find("searchSpace") != nullptr;
  if (both)
    top.error("searchSpaceFile", "exactly one of searchSpace and searchSpaceFile is needed");
  if (!both && !file && !inline_space && !top.wrong("searchSpaceFile"))
    top.error("searchSpace", "missing: exactly one of searchSpace and searchSpaceFile is needed");
  if (inline_space) {
    std::vector<SpaceFlaw> flaws;
    result.value = inline_space->value();
    result.space = parse_space(result.value, flaws);
    result.sound = flaws.empty();
    for (const SpaceFlaw& flaw : flaws) inline_space->error(flaw.place, flaw.message);
  } else if (file) {
    const fs::path path = (base / *file).lexically_normal();
    if (const auto text = read_user_text(path))
      result = read_space_text(*text, path, top.findings());
    else
      top.error("searchSpaceFile", text.error().message);
  }
  if (both) result.sound = false;
  if (!result.space || both) return result;
  read_constraints(top, *result.space);
  if (top.wrong("constraints")) result.sound = false;
  return result;
}

Result<json> read_search_space_file(const fs::path& file) {
  Findings findings;
  SpaceSection read = read_space_text(TRY(read_user_text(file)), file, findings);
  TRY(findings.result());
  return std::move(read.value);
}

void check_initial_points(const Section& top, const Space& space) {
  const std::vector<Section> points = top.sections("initialPoints");
  if (top.wrong("initialPoints")) return;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (const auto checked = check_point(space, points[i].value()); !checked)
      top.error(fmt::format("initialPoints[{}]", i), checked.error().message);
  }
}

}  // namespace attune

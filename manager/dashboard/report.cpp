#include "manager/dashboard/report.h"

#include <fmt/format.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "base/base64.h"
#include "base/json.h"
#include "dashboard/page_files.h"

namespace attune {
namespace {

constexpr int kTrials = 20;          // the best, with all details
constexpr int kParameters = 30;      // slices through the model
constexpr int kRowsAtOnce = 65'536;  // as the page asks (data.js)

// Nothing is loaded from anywhere, whatever the names of trials are.
constexpr const char* kPolicy =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:\">\n";

// Asks a view, and collects the answers by their paths below /api/v1.
class Answers {
 public:
  Answers(View& view, const std::string& experiment)
      : view_(view), base_("/experiments/" + experiment) {}

  HttpResponse ask(const std::string& path) {
    HttpRequest request;
    request.method = "GET";
    auto target = parse_target("/api/v1" + base_ + path);
    if (!target) return HttpResponse::text(400, "text/plain", target.error().message);
    request.target = *std::move(target);
    return view_.answer(request);
  }
  // Keeps the answer, if there is one: a picture may lack results. Returns it.
  json keep(const std::string& path) {
    const HttpResponse response = ask(path);
    if (response.status != 200) return nullptr;
    auto answer = parse_json(*response.body);
    if (!answer) return nullptr;
    paths_[base_ + path] = *answer;
    return *std::move(answer);
  }
  void put(const std::string& path, json answer) { paths_[base_ + path] = std::move(answer); }
  const json& paths() const { return paths_; }

 private:
  View& view_;
  std::string base_;
  json paths_ = json::object();
};

std::string in_query(const std::string& text) {
  std::string escaped;
  for (const unsigned char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                       c == '-' || c == '_' || c == '.' || c == '*';
    if (plain) {
      escaped += static_cast<char>(c);
    } else if (c == ' ') {
      escaped += '+';
    } else {
      escaped += fmt::format("%{:02X}", c);
    }
  }
  return escaped;
}

// The header of columns (docs/api.md, "Columns").
json header_of(const std::string& columns) {
  std::uint32_t size = 0;
  for (std::size_t i = 0; i < 4; ++i)
    size |= static_cast<std::uint32_t>(static_cast<unsigned char>(columns[i])) << (8 * i);
  return parse_json(columns.substr(4, size)).value();
}

// All columns, in the parts in which the page asks for them.
Result<void> put_columns(Answers& answers) {
  std::string path = "/columns";  // the page asks for the beginning with an empty cursor
  while (true) {
    const HttpResponse part = answers.ask(path);
    if (part.status != 200) return fail("the trials cannot be read: " + *part.body);
    answers.put(path, {{"base64", base64_encode(*part.body)}});
    const json header = header_of(*part.body);
    if (!header["more"].get<bool>()) return {};
    path =
        fmt::format("/columns?after={}&limit={}", header["next"].get<std::string>(), kRowsAtOnce);
  }
}

void replace_first(std::string& text, std::string_view what, const std::string& by) {
  const std::size_t at = text.find(what);
  if (at != std::string::npos) text.replace(at, what.size(), by);
}

// In a script element only "<" could end it, or begin a comment.
std::string as_script_data(std::string text) {
  for (std::size_t at = 0; (at = text.find('<', at)) != std::string::npos;)
    text.replace(at, 1, "\\u003c");
  return text;
}

}  // namespace

Result<std::string> report_document(View& view, const std::string& experiment) {
  Answers answers(view, experiment);
  const json state = answers.keep("");
  if (state.is_null()) return fail(fmt::format("experiment {} cannot be read", experiment));
  TRY(put_columns(answers));
  answers.keep("/events?newest=100");
  // A report answers the page by the path alone where it has no answer for the whole query.
  for (const char* path : {"/curves?best=10&band=1", "/importance", "/front"}) {
    const json answer = answers.keep(path);
    if (!answer.is_null())
      answers.put(std::string(path).substr(0, std::string(path).find('?')), answer);
  }
  answers.keep("/importance?method=fanova");
  answers.keep("/importance?method=fanova&pairs=1");
  int slices = 0;
  for (const json& parameter : state["space"]) {
    if (++slices > kParameters) break;
    answers.keep("/posterior?x=" + in_query(parameter["name"].get<std::string>()));
  }
  const HttpResponse best = answers.ask(fmt::format("/trials?sort=best&limit={}", kTrials));
  if (const auto list = parse_json(best.status == 200 ? *best.body : "{}"); list)
    for (const json& trial : list->value("trials", json::array()))
      answers.keep(fmt::format("/trials/{}", trial["sequence"].get<std::int64_t>()));

  std::string page(find_page_file("index.html")->plain);
  const std::string script(find_page_file("page.js")->plain);
  const std::string style(find_page_file("page.css")->plain);
  replace_first(page, "<head>\n", std::string("<head>\n") + kPolicy);
  replace_first(page, "<link rel=\"stylesheet\" href=\"page.css\">\n",
                "<style>\n" + style + "</style>\n");
  replace_first(page, "<script defer src=\"page.js\"></script>\n", "");
  replace_first(page, "</body>",
                "<script type=\"application/json\" id=\"attune-report\">" +
                    as_script_data(dump_json({{"paths", answers.paths()}})) +
                    "</script>\n<script>\n" + script + "</script>\n</body>");
  return page;
}

}  // namespace attune

#include "manager/dashboard/route.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <optional>

#include "manager/control/json_format.h"
#include "manager/control/schema.h"

namespace attune {
namespace {

std::vector<std::string> segments_of(const std::string& path) {
  std::vector<std::string> segments;
  std::size_t begin = 1;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    segments.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return segments;
}

bool is_variable(const std::string& segment) { return segment.starts_with("{"); }

std::optional<std::vector<std::string>> match(const Route& route,
                                              const std::vector<std::string>& path) {
  const std::vector<std::string> pattern = segments_of(route.path);
  if (pattern.size() != path.size()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (is_variable(pattern[i])) {
      names.push_back(path[i]);
    } else if (pattern[i] != path[i]) {
      return std::nullopt;
    }
  }
  return names;
}

template <class Number>
std::optional<Number> number_in(const std::string& text) {
  Number value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return value;
}

// The text of a query as the type that its schema wants; as text, if it is not of that type.
json typed(const json& schema, const std::string& text) {
  const std::string type = schema.value("type", "string");
  if (type == "integer") {
    if (const auto value = number_in<std::int64_t>(text)) return *value;
  } else if (type == "number") {
    if (const auto value = number_in<double>(text)) return *value;
  } else if (type == "boolean") {
    if (text == "1" || text == "true") return true;
    if (text == "0" || text == "false") return false;
  }
  return text;
}

json parameters_json(const Route& route) {
  json list = json::array();
  for (const std::string& segment : segments_of(route.path)) {
    if (!is_variable(segment)) continue;
    list.push_back({{"name", segment.substr(1, segment.size() - 2)},
                    {"in", "path"},
                    {"required", true},
                    {"schema", {{"type", "string"}}}});
  }
  for (const auto& [name, schema] : route.query.items())
    list.push_back({{"name", name}, {"in", "query"}, {"schema", schema}});
  return list;
}

json operation_json(const Route& route) {
  json operation = {{"summary", route.summary}, {"parameters", parameters_json(route)}};
  if (!route.body.is_null())
    operation["requestBody"] = {{"required", true},
                                {"content", {{"application/json", {{"schema", route.body}}}}}};
  const json schema =
      route.answer == "application/json" ? json{{"type", "object"}} : json{{"type", "string"}};
  operation["responses"] = {
      {"200", {{"description", "Done"}, {"content", {{route.answer, {{"schema", schema}}}}}}},
      {"default",
       {{"description", "An error: `error` says what is wrong, and the cure"},
        {"content",
         {{"application/json",
           {{"schema",
             {{"type", "object"},
              {"properties", {{"error", {{"type", "string"}}}}},
              {"required", {"error"}}}}}}}}}}};
  return operation;
}

}  // namespace

std::vector<Route> all_routes() {
  std::vector<Route> routes = reading_routes();
  std::ranges::move(picture_routes(), std::back_inserter(routes));
  std::ranges::move(changing_routes(), std::back_inserter(routes));
  std::ranges::move(metrics_routes(), std::back_inserter(routes));
  return routes;
}

RouteMatch find_route(const std::vector<Route>& routes, const HttpRequest& request) {
  RouteMatch found;
  const std::string method = request.method == "HEAD" ? "GET" : request.method;
  for (const Route& route : routes) {
    auto names = match(route, request.target.path);
    if (!names) continue;
    found.known = true;
    found.hidden = route.hidden;
    if (route.method != method) continue;
    found.route = &route;
    found.names = *std::move(names);
    break;
  }
  return found;
}

std::expected<json, ApiError> query_of(const Route& route, const HttpRequest& request) {
  json query = json::object();
  for (const auto& [name, text] : request.target.query) {
    if (!route.query.contains(name))
      return std::unexpected(
          ApiError(400, fmt::format("?{}: this address does not know it", name)));
    if (text.empty()) continue;  // as if it were not given
    const json& schema = route.query[name];
    query[name] = typed(schema, text);
    if (const auto fits = check_schema(schema, query[name], "?" + name); !fits)
      return std::unexpected(ApiError(400, fits.error().message));
  }
  return query;
}

std::expected<json, ApiError> body_of(const Route& route, const HttpRequest& request) {
  if (route.body.is_null()) return json::object();
  auto body = parse_json(request.body);
  if (!body) return std::unexpected(ApiError(400, "the body is no JSON: " + body.error().message));
  if (const auto fits = check_schema(route.body, *body, "the body"); !fits)
    return std::unexpected(ApiError(400, fits.error().message));
  return *std::move(body);
}

HttpResponse json_answer(const json& object) {
  return HttpResponse::text(200, "application/json",
                            dump_json(object.contains("format") ? object : with_format(object)));
}

json openapi_document(const std::vector<Route>& routes) {
  json paths = json::object();
  for (const Route& route : routes) {
    if (route.hidden) continue;
    std::string method = route.method;
    for (char& c : method) c = static_cast<char>(c - 'A' + 'a');
    paths[route.path][method] = operation_json(route);
  }
  return {{"openapi", "3.1.0"},
          {"info",
           {{"title", "attune dashboard"},
            {"version", "1"},
            {"description", "Experiments that attune runs: docs/api.md says what the keys mean."}}},
          {"paths", paths}};
}

}  // namespace attune

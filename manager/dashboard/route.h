#pragma once
// The HTTP API as values: what can be asked, with which arguments, and who answers. The OpenAPI
// document is made from them.
#include <expected>
#include <string>
#include <vector>

#include "base/json.h"
#include "dashboard/http_message.h"
#include "manager/store/store_reader.h"

namespace attune {

class StoredView;

// An error with the status of HTTP that it gives.
struct ApiError {
  int status = 500;
  std::string message;
  ApiError(Error error) : message(std::move(error.message)) {}
  ApiError(int number, std::string text) : status(number), message(std::move(text)) {}
};
using ApiResult = std::expected<HttpResponse, ApiError>;

namespace detail {
// For TRY (base/result.h) on functions that fail with an ApiError.
template <class T>
T take(std::expected<T, ApiError>&& result) {
  return *std::move(result);
}
}  // namespace detail

// A request whose arguments fit the route's schemas.
struct ApiCall {
  StoredView& view;
  std::vector<std::string> names;  // the parts of the path that stand in {}
  json query, body;                // objects
};

struct Route {
  std::string method;  // "GET"
  std::string path;    // "/api/v1/experiments/{experiment}"
  std::string summary;
  json query = json::object();  // {name: schema}; each may be missing
  json body = nullptr;          // the schema of the body; null: there is none
  std::string answer = "application/json";
  bool changes = false;
  bool heavy = false;   // may take seconds
  bool hidden = false;  // CallKind::hidden; and the document of the API does not tell of it
  ApiResult (*call)(ApiCall& call) = nullptr;
};

// All routes of the API, in the order of the document.
std::vector<Route> all_routes();
std::vector<Route> reading_routes();   // experiments, trials, logs, files
std::vector<Route> picture_routes();   // columns, curves, importance, front, posterior
std::vector<Route> changing_routes();  // add, kill, stop, resume, update
std::vector<Route> metrics_routes();   // Prometheus

// The hidden ones, which are not among all_routes(): what NNI's manager answers its clients, about
// StoredSourceOptions::nni_experiment (docs/nni.md).
namespace nni_reading {
std::vector<Route> routes();
}
namespace nni_changing {
std::vector<Route> routes();
}

// The route for a path, and the parts of it that stand in {}. `route` is null: there is none for
// this method; `known`: there is one for another method.
struct RouteMatch {
  const Route* route = nullptr;
  bool known = false;
  bool hidden = false;  // of the one that is known
  std::vector<std::string> names = {};
};
RouteMatch find_route(const std::vector<Route>& routes, const HttpRequest& request);

// The arguments of a request as JSON, checked against the route's schemas. Error: status 400.
std::expected<json, ApiError> query_of(const Route& route, const HttpRequest& request);
std::expected<json, ApiError> body_of(const Route& route, const HttpRequest& request);

HttpResponse json_answer(const json& object);  // gets its `format`

// The OpenAPI 3.1 document of the routes.
json openapi_document(const std::vector<Route>& routes);

}  // namespace attune

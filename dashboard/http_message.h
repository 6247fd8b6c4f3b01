#pragma once
// Requests and responses of HTTP without sockets: what arrived, taken apart and checked.
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace attune {

// What follows the host in a URL: /api/v1/trials?limit=5.
struct HttpTarget {
  // The segments between the slashes, decoded. Each is UTF-8 without control characters and
  // slashes, and none is empty, "." or "..": so joined segments stay below the folder that they are
  // joined to. A slash at the end of the path does not count.
  std::vector<std::string> path;
  std::vector<std::pair<std::string, std::string>> query;  // decoded, in their order

  // The value of the first parameter of that name; empty: there is none.
  std::string value(std::string_view name) const;
};

// Error: it does not begin with a slash, or a part of it is not allowed.
Result<HttpTarget> parse_target(std::string_view text);

std::string lower_case(std::string_view text);  // of ASCII letters

struct HttpRequest {
  std::string method;  // "GET"
  HttpTarget target;
  std::vector<std::pair<std::string, std::string>> headers;  // names in lower case
  std::string body;

  // The value of the first header of that name, which is in lower case; empty: there is none.
  std::string header(std::string_view name) const;
  // The value of a cookie; empty: there is none.
  std::string cookie(std::string_view name) const;
};

struct HttpResponse {
  int status = 200;
  std::string type = "application/json";
  std::shared_ptr<const std::string> body;                        // null: empty
  std::vector<std::pair<std::string, std::string>> headers = {};  // besides those of every response

  static HttpResponse text(int status, std::string type, std::string body);
};

}  // namespace attune

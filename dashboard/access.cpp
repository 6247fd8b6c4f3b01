#include "dashboard/access.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace attune {
namespace {

constexpr std::string_view kBearer = "Bearer ";

// A host without its port, in lower case.
std::string name_of(std::string_view host) {
  const std::size_t bracket = host.rfind(']');
  const std::size_t colon = host.rfind(':');
  const bool has_port =
      colon != std::string_view::npos && (bracket == std::string_view::npos || bracket < colon);
  return lower_case(has_port ? host.substr(0, colon) : host);
}

bool matches(const Secret& secret, std::string_view hex) {
  const auto given = Secret::parse(hex);
  return given && *given == secret;
}

HttpRefusal read_only_refusal() {
  return {403, "the dashboard was started with --read-only: it changes nothing"};
}

// Servers on other ports of the same host set cookies in the same place.
std::string cookie_name(const HttpRequest& request) {
  const std::string host = request.header("host");
  const std::size_t colon = host.rfind(':');
  std::string port = colon == std::string::npos ? "" : host.substr(colon + 1);
  if (port.size() > 5 || !std::ranges::all_of(port, [](char c) { return c >= '0' && c <= '9'; }))
    port.clear();
  return "attune" + port;
}

}  // namespace

std::optional<HttpRefusal> Access::check_sender(const HttpRequest& request) const {
  const std::string host = request.header("host");
  const std::string name = name_of(host);
  constexpr std::array loopback = {"localhost", "127.0.0.1", "[::1]"};
  if (std::ranges::find(loopback, name) == loopback.end() &&
      std::ranges::find(rules_.hosts, name) == rules_.hosts.end())
    return HttpRefusal{
        403,
        "this server does not serve that host name; open it as localhost, or start it "
        "with --allow-host NAME"};
  const std::string origin = request.header("origin");
  if (!origin.empty() && origin != "http://" + host && origin != "https://" + host)
    return HttpRefusal{403, "the request comes from a page of another site"};
  const std::string site = request.header("sec-fetch-site");
  const bool foreign = site == "cross-site" || site == "same-site";
  // A link from elsewhere may open the page, which then asks by itself.
  if (foreign && request.header("sec-fetch-mode") != "navigate")
    return HttpRefusal{403, "the request comes from a page of another site"};
  return std::nullopt;
}

std::optional<HttpRefusal> Access::check_user(const HttpRequest& request, bool changes) const {
  const std::string authorization = request.header("authorization");
  const bool program = authorization.starts_with(kBearer) &&
                       knows(std::string_view(authorization).substr(kBearer.size()));
  const bool page = matches(cookie_, request.cookie(cookie_name(request))) &&
                    matches(key_, request.header("attune-key"));
  if (!program && !page)
    return HttpRefusal{401, "open the link that attune dashboard has printed, or send its token"};
  if (!changes) return std::nullopt;
  if (rules_.read_only) return read_only_refusal();
  if (!program && request.header("origin").empty())
    return HttpRefusal{403, "a change by a page must name its Origin"};
  return std::nullopt;
}

bool Access::take_prefix(HttpTarget& target) const {
  if (target.path.empty() || !matches(prefix_, target.path.front())) return false;
  target.path.erase(target.path.begin());
  return true;
}

std::optional<HttpRefusal> Access::check_prefixed(bool changes) const {
  if (changes && rules_.read_only) return read_only_refusal();
  return std::nullopt;
}

bool Access::knows(std::string_view token) const { return matches(token_, token); }

std::string Access::set_cookie(const HttpRequest& request) const {
  return fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", cookie_name(request),
                     cookie_.hex());
}

std::string Access::clear_cookie(const HttpRequest& request) const {
  return cookie_name(request) + "=; HttpOnly; SameSite=Strict; Path=/; Max-Age=0";
}

}  // namespace attune

#pragma once
// Decides whether a request is served. Other users of the machine, and web pages in the user's own
// browser, can reach a server on loopback as well as its user can, so each request is checked:
//
//   Host    must be a loopback name or one that was allowed. A page of evil.example whose name is
//           made to point here (DNS rebinding) sends its own name.
//   Origin  of a request that a web page sends must be this server.
//   Who     must know the token: as "Authorization: Bearer TOKEN" (programs), or by the two halves
//           that a log-in with the token gives (the page): a cookie and a key. Scripts cannot read
//           the cookie, but browsers send it to every port of a host, so a server of another user
//           could collect it. The key, sent as "Attune-Key: KEY", is kept where only pages of this
//           host and port can read it. Neither is worth anything without the other.
//   Changes by the page must name the page as their Origin.
//   Prefix  Some clients of other programs can send neither a header nor a cookie. What they may
//           ask for lies below a path that only its user knows: /PREFIX/... . Who has the prefix
//           has these paths, and no others: the token cannot be computed from it.
//
// Immutable: any thread may use an Access.
#include <optional>
#include <string>
#include <vector>

#include "dashboard/http_message.h"
#include "wire/secret.h"

namespace attune {

struct AccessRules {
  std::vector<std::string> hosts;  // names besides those of loopback, in lower case
  bool read_only = false;          // nobody changes anything
};

// Why a request is not served.
struct HttpRefusal {
  int status = 403;
  std::string why;  // a sentence that names the cure
};

class Access {
 public:
  Access(AccessRules rules, const Secret& token)
      : rules_(std::move(rules)),
        token_(token),
        prefix_(token.mac("prefix")),
        cookie_(Secret::draw()),
        key_(Secret::draw()) {}

  // Of every request, also for the files of the page, which are no secret.
  std::optional<HttpRefusal> check_sender(const HttpRequest& request) const;
  // Of a request for data. `changes`: it changes an experiment.
  std::optional<HttpRefusal> check_user(const HttpRequest& request, bool changes) const;

  // Removes the prefix from the path, and returns whether it was there. Constant time.
  bool take_prefix(HttpTarget& target) const;
  // Of a request that had the prefix.
  std::optional<HttpRefusal> check_prefixed(bool changes) const;

  bool knows(std::string_view token) const;  // constant time
  bool read_only() const { return rules_.read_only; }
  const Secret& token() const { return token_; }
  // Changes only with the token.
  std::string prefix() const { return prefix_.hex(); }

  // After a log-in: the header Set-Cookie, and the key. They are drawn anew by each server, so they
  // end with it.
  std::string set_cookie(const HttpRequest& request) const;
  std::string clear_cookie(const HttpRequest& request) const;
  std::string key() const { return key_.hex(); }

 private:
  AccessRules rules_;
  Secret token_, prefix_, cookie_, key_;
};

}  // namespace attune

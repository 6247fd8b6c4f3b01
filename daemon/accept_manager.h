#pragma once
// Waits for a manager that connects to a unix-domain socket instead of starting the daemon: NNI 2.7
// with --dispatcher-pipe, whose frames go over one connection in both directions.
#include <optional>
#include <string>

#include "base/result.h"
#include "os/log.h"
#include "os/unique_fd.h"

namespace attune {

// Listens at `path` until a manager has connected, and returns its connection. Nothing: SIGTERM or
// SIGINT came first. Connections from users who are not trusted (os/trust.h) are closed with a
// warning.
//
// The file of the socket has mode 0600. It appears when connections are accepted, not before, and
// is removed before this returns: a second manager is refused at once, instead of waiting for
// answers that nobody gives. A socket that a killed daemon left there is replaced.
//
// Errors name the path and the cure: it is too long for a socket, its folder does not exist or is
// open to other users, something else is there, or another program listens there.
Result<std::optional<UniqueFd>> accept_manager(const std::string& path, const Log& log);

}  // namespace attune

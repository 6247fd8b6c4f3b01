#include "wire/address_file.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/json.h"
#include "os/atomic_file.h"
#include "os/trust.h"
#include "wire/host_port.h"

namespace attune {
namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 10;

Result<void> check_secret(int fd, const std::string& path) {
  struct stat status = {};
  if (::fstat(fd, &status) != 0) return fail("cannot look at " + path);
  if (status.st_uid != ::geteuid()) {
    return fail(fmt::format("{} belongs to user {}, not to this one ({})", path, status.st_uid,
                            ::geteuid()));
  }
  const unsigned others = status.st_mode & 0077;
  if (others != 0) {
    return fail(fmt::format("{} is open to others (mode {:04o}); it has a secret: chmod 600", path,
                            status.st_mode & 07777));
  }
  return {};
}

Result<std::string> text_member(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string() || found->get_ref<const std::string&>().empty())
    return fail(fmt::format("'{}' must be a text", name));
  return found->get<std::string>();
}

Result<WireAddress> parse(std::string_view text) {
  const json object = TRY(parse_json(text, {.depth = 8, .keys = 100}));
  if (!object.is_object()) return fail("a JSON object is expected");
  const std::string address = TRY(text_member(object, "address"));
  const std::string role = TRY(text_member(object, "role"));
  const auto secret = Secret::parse(TRY(text_member(object, "secret")));
  if (!secret) return fail("'secret': " + secret.error().message);
  if (TRY(parse_host_port(address)).port == 0) return fail("the port is 0");
  return WireAddress{address, role, *secret};
}

}  // namespace

Result<void> write_address_file(const std::string& path, const WireAddress& address) {
  const json object = {
      {"address", address.address}, {"role", address.role}, {"secret", address.secret.hex()}};
  return write_file_atomically(path, dump_json(object) + "\n");
}

Result<std::string> read_secret_text(const std::string& path) {
  FileSystem& files = real_files();
  const UniqueFd file = TRY(files.open(path, {}));
  TRY(check_secret(file.get(), path));
  TRY(check_trusted(std::filesystem::path(path)));  // nobody can put another one in its place
  const std::uint64_t size = TRY(files.size(file.get(), path));
  if (size > kMostBytes) return fail(fmt::format("{} is larger than {} bytes", path, kMostBytes));
  return read_all(files, file.get(), path);
}

Result<WireAddress> read_address_file(const std::string& path) {
  auto address = parse(TRY(read_secret_text(path)));
  if (!address) return fail(path + ": " + address.error().message);
  return address;
}

Result<Secret> read_secret_file(const std::string& path, const std::string& role) {
  std::string text = TRY(read_secret_text(path));
  if (text.starts_with('{')) {
    const auto address = parse(text);
    if (!address) return fail(path + ": " + address.error().message);
    if (address->role != role)
      return fail(fmt::format("{} is for the role {}, not for {}", path, address->role, role));
    return address->secret;
  }
  while (text.ends_with('\n') || text.ends_with('\r')) text.pop_back();
  auto secret = Secret::parse(text);
  if (!secret)
    return fail(fmt::format("{}: no secret is in it: {}; copy {}.json of the coordinator's folder",
                            path, secret.error().message, role));
  return secret;
}

}  // namespace attune

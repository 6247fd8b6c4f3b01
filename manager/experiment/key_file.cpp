#include "manager/experiment/key_file.h"

#include <fmt/format.h>
#include <string.h>
#include <unistd.h>

#include <cerrno>

#include "os/atomic_file.h"
#include "os/private_file.h"
#include "wire/address_file.h"

namespace attune {
namespace {

Result<std::string> read_key(const std::filesystem::path& file) {
  std::string text = TRY(read_secret_text(file.string()));
  if (text.ends_with('\n')) text.pop_back();
  if (!Secret::parse(text))
    return fail(fmt::format("{}: 64 hexadecimal digits are wanted in it", file.string()));
  return text;
}

}  // namespace

Result<std::string> keep_key(const std::filesystem::path& file) {
  std::error_code none;
  if (exists(symlink_status(file, none))) return read_key(file);
  TRY(make_directories(file.parent_path()));
  const std::string made = fmt::format("{}.{}", file.string(), ::getpid());
  TRY(write_file_atomically(made, Secret::draw().hex() + "\n"));
  // link() fails if the file exists; rename() would replace a key that another process may use
  // already.
  const int error = ::link(made.c_str(), file.c_str()) == 0 ? 0 : errno;
  ::unlink(made.c_str());
  if (error != 0 && error != EEXIST)
    return fail(fmt::format("cannot make {}: {}", file.string(), strerror(error)));
  return read_key(file);
}

}  // namespace attune

// Where a coordinator is, as it is said on the command line.
#include "manager/experiment/dial_address.h"

#include <catch2/catch.hpp>
#include <fstream>

#include "cluster/pool/roles.h"
#include "tests/support/temporary_folder.h"
#include "wire/address_file.h"

namespace attune::dial_address_test {

using Catch::Contains;
namespace fs = std::filesystem;

void write_secret(const fs::path& file, const std::string& text) {
  std::ofstream(file) << text;
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}

TEST_CASE("dial address: a secret of a file") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "secret").string();
  const Secret secret = Secret::draw();
  const auto check = [&] {
    const auto dial = dial_options("head:7000", file, kWorkerRole);
    REQUIRE(dial);
    CHECK(dial->address == "head:7000");
    CHECK(dial->secret_file == file);
    CHECK(read_secret_file(file, kWorkerRole).value() == secret);
  };
  write_secret(file, secret.hex());
  check();
  write_secret(file, secret.hex() + "\n");
  check();
  // The address in it is not used: there may be another way to the host.
  REQUIRE(write_address_file(file, {"other:1", kWorkerRole, secret}));
  check();
  const auto dial = dial_options("head:7000", file, kClientRole);
  REQUIRE_FALSE(dial);
  CHECK_THAT(dial.error().message,
             Contains(file + " is for the role worker") && Contains("client.json"));
}

TEST_CASE("dial address: a file without a secret is refused at once") {
  const TemporaryFolder folder;
  const std::string file = (folder.path / "secret").string();
  write_secret(file, GENERATE("", "\n\n", "secret", "{"));
  const auto dial = dial_options("head:7000", file, kWorkerRole);
  REQUIRE_FALSE(dial);
  CHECK_THAT(dial.error().message, Contains(file));
  CHECK_FALSE(dial_options("head:7000", "", kWorkerRole));
  CHECK_FALSE(dial_options("head:7000", (folder.path / "missing").string(), kWorkerRole));
  write_secret(file, Secret::draw().hex());
  fs::permissions(file, fs::perms::others_read, fs::perm_options::add);
  CHECK_THAT(dial_options("head:7000", file, kWorkerRole).error().message,
             Contains("open to others"));
}

TEST_CASE("dial address: a folder has a file of each role in it, also when it is not there yet") {
  const TemporaryFolder folder;
  const std::string path = (folder.path / "pool").string();
  const auto [role, file] = GENERATE(table<std::string, std::string>({{"worker", "worker.json"},
                                                                      {"client", "client.json"},
                                                                      {"view", "view.json"},
                                                                      {"data", "program.json"}}));
  for (const bool there : {false, true}) {
    if (there) fs::create_directory(path);
    CHECK(dial_options(path, "", role)->file == path + "/" + file);
    CHECK(dial_options(path + "/" + file, "", role)->file == path + "/" + file);
    // As an experiment of a former version has it.
    CHECK(dial_options(path + "/coordinator.json", "", role)->file == path + "/" + file);
  }
  std::ofstream(folder.path / "other") << "{}";
  CHECK(dial_options((folder.path / "other").string(), "", role)->file ==
        (folder.path / "other").string());
}

TEST_CASE("dial address: a file of another role is an error that names the right one") {
  const TemporaryFolder folder;
  const fs::path file = folder.path / "view.json";
  REQUIRE(write_address_file(file.string(), {"127.0.0.1:9", kViewRole, Secret::draw()}));
  const auto dial = dial_options(file.string(), "", kWorkerRole);
  REQUIRE_FALSE(dial);
  CHECK_THAT(dial.error().message,
             Contains("is for the role view") && Contains((folder.path / "worker.json").string()));
}

}  // namespace attune::dial_address_test

#include "os/trust.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>

#include "tests/support/temporary_folder.h"

namespace attune::trust_test {

namespace fs = std::filesystem;

TEST_CASE("trust: who else may write there") {
  struct Row {
    mode_t mode;
    uid_t owner;
    gid_t group;
    bool alone;  // in the group
    PathPart part;
    const char* why;
    const char* cure;
  };
  constexpr auto kEnd = PathPart::end, kWay = PathPart::way;
  const Row row = GENERATE_COPY(values<Row>({
      {S_IFDIR | 0700, 1000, 1000, false, kEnd, "", ""},
      {S_IFDIR | 0755, 0, 0, false, kEnd, "", ""},
      {S_IFDIR | 0775, 1000, 1000, true, kEnd, "", ""},  // umask 002
      {S_IFREG | 0664, 1000, 1000, true, kEnd, "", ""},
      {S_IFDIR | 0775, 1000, 100, false, kEnd, "can be written by other users (mode 0775)",
       "group:100"},
      {S_IFDIR | 02775, 0, 50, false, kWay, "can be written by other users (mode 2775)",
       "group:50"},
      {S_IFDIR | 02775, 0, 60, false, kWay, "", ""},  // ATTUNE_TRUST
      {S_IFDIR | 0777, 1000, 1000, true, kEnd, "can be written by other users (mode 0777)", "all"},
      {S_IFDIR | 0777, 1000, 1000, true, kWay, "can be written by other users (mode 0777)", "all"},
      {S_IFREG | 01666, 1000, 1000, true, kEnd, "can be written by other users (mode 1666)", "all"},
      // In /tmp, anybody can make attune.sqlite-wal; what somebody else has made there stays his.
      {S_IFDIR | 01777, 0, 0, false, kEnd, "can be written by other users (mode 1777)", "all"},
      {S_IFDIR | 01777, 0, 0, false, kWay, "", ""},
      {S_IFDIR | 01777, 1001, 0, false, kWay, "belongs to another user (1001)", "user:1001"},
      {S_IFDIR | 0700, 1001, 1000, false, kEnd, "belongs to another user (1001)", "user:1001"},
      {S_IFREG | 0600, 1001, 1000, false, kEnd, "belongs to another user (1001)", "user:1001"},
      {S_IFREG | 0600, 1002, 1000, false, kEnd, "", ""},  // ATTUNE_TRUST
      {S_IFLNK | 0777, 1000, 1000, false, kEnd, "", ""},
      {S_IFLNK | 0777, 1001, 1000, false, kEnd, "belongs to another user (1001)", "user:1001"},
      {S_IFCHR | 0666, 0, 0, false, kEnd, "", ""},
  }));
  struct stat status{};
  status.st_mode = row.mode;
  status.st_uid = row.owner;
  status.st_gid = row.group;
  const Trust trust{{1000, 0, 1002}, {60}, false};
  CAPTURE(row.mode, row.owner, row.group);
  const Distrust found = why_untrusted(status, trust, row.alone, row.part);
  CHECK(found.why == row.why);
  CHECK(found.cure == row.cure);
  CHECK(why_untrusted(status, {{}, {}, true}, false, row.part).why.empty());
}

TEST_CASE("trust: what ATTUNE_TRUST says") {
  Trust trust;
  REQUIRE(add_trust("user:1000,group:20,user:7", trust));
  CHECK(trust.users == std::vector<uid_t>{1000, 7});
  CHECK(trust.groups == std::vector<gid_t>{20});
  CHECK_FALSE(trust.everybody);
  REQUIRE(add_trust("", trust));
  REQUIRE(add_trust("all", trust));
  CHECK(trust.everybody);
  for (const char* wrong : {"alice", "user:alice", "user:", "user:-1", "group:1 ", "everybody"}) {
    CAPTURE(wrong);
    const auto added = add_trust(wrong, trust);
    REQUIRE_FALSE(added);
    CHECK(added.error().message.find("ATTUNE_TRUST: \"") == 0);
  }
}

// Needs no second user: a folder that all may write to is as bad as another user's.
class World {
 public:
  World() {
    fs::create_directories(folder.path / "open" / "mine");
    fs::create_directories(folder.path / "mine");
    write(folder.path / "open" / "mine" / "file");
    write(folder.path / "mine" / "file");
    open_to_all(folder.path / "open", 0777);
  }
  static void write(const fs::path& path) { std::ofstream(path) << "text"; }
  static void open_to_all(const fs::path& path, mode_t mode) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
  }
  fs::path at(const char* path) const { return folder.path / path; }

  TemporaryFolder folder;
};

void check_refused(const fs::path& path, const fs::path& because) {
  CAPTURE(path);
  const auto read = read_trusted_file(path);
  REQUIRE_FALSE(read);
  CAPTURE(read.error().message);
  CHECK(read.error().message.find(because.string() + " can be written by other users") == 0);
}

TEST_CASE("trust: the folders that lead to a file count") {
  const World world;
  CHECK(read_trusted_file(world.at("mine/file")).value() == "text");
  CHECK(read_trusted_file(world.at("open/../mine/file")).error().message.find("other users") !=
        std::string::npos);
  check_refused(world.at("open/mine/file"), world.at("open"));
  World::open_to_all(world.at("open"), 01777);
  CHECK(read_trusted_file(world.at("open/mine/file")).value() == "text");
  World::open_to_all(world.at("mine/file"), 0666);
  check_refused(world.at("mine/file"), world.at("mine/file"));
}

TEST_CASE("trust: a symbolic link leads through folders that count, too") {
  const World world;
  fs::create_symlink("../open/mine", world.at("mine/link"));
  fs::create_symlink(world.at("mine/file"), world.at("mine/good"));
  fs::create_symlink(world.at("mine/file"), world.at("open/link"));
  fs::create_symlink("loop", world.at("mine/loop"));
  CHECK(read_trusted_file(world.at("mine/good")).value() == "text");
  check_refused(world.at("mine/link/file"), world.at("mine/../open"));
  check_refused(world.at("open/link"), world.at("open"));
  CHECK(read_trusted_file(world.at("mine/loop")).error().message.find("Too many levels") !=
        std::string::npos);
  CHECK(open_trusted(world.at("mine/good"), O_RDONLY | O_NOFOLLOW)
            .error()
            .message.find("it is a symbolic link") != std::string::npos);
}

TEST_CASE("trust: opens a folder, and says what is not there") {
  const World world;
  CHECK(open_trusted(world.at("mine"), O_RDONLY | O_DIRECTORY));
  CHECK(open_trusted(world.at("mine/"), O_PATH | O_DIRECTORY));
  CHECK(check_trusted(world.at("mine")));
  CHECK_FALSE(check_trusted(world.at("open")));
  CHECK(open_trusted(world.at("mine/file"), O_RDONLY | O_DIRECTORY).error().message ==
        "cannot open " + world.at("mine/file").string() + ": Not a directory");
  CHECK(read_trusted_file(world.at("mine/none")).error().message ==
        "cannot open " + world.at("mine/none").string() + ": No such file or directory");
}

TEST_CASE("trust: what a descriptor of ours leads to is trusted as it is") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  const UniqueFd in(ends[0]);
  {
    const UniqueFd out(ends[1]);
    REQUIRE(::write(out.get(), "piped", 5) == 5);
  }
  CHECK(read_trusted_file("/dev/fd/" + std::to_string(in.get())).value() == "piped");
}

TEST_CASE("trust: a FIFO that somebody may have put there is not waited for") {
  const World world;
  REQUIRE(::mkfifo(world.at("mine/fifo").c_str(), 0600) == 0);
  World::open_to_all(world.at("mine/fifo"), 0666);
  check_refused(world.at("mine/fifo"), world.at("mine/fifo"));
}

}  // namespace attune::trust_test

// NNI's line format, levels, destinations.
#include "os/log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <regex>
#include <thread>

#include "os/line_rate.h"
#include "os/unique_fd.h"

namespace attune::log_test {

// A directory of its own that goes away with the test.
class LogFile {
 public:
  LogFile()
      : directory_(std::filesystem::temp_directory_path() /
                   ("attune-log-test-" + std::to_string(::getpid()))) {}
  ~LogFile() { std::filesystem::remove_all(directory_); }
  LogFile(const LogFile&) = delete;
  LogFile& operator=(const LogFile&) = delete;

  std::string path() const { return directory_ / "deep" / "dispatcher.log"; }
  std::vector<std::string> lines() const {
    std::ifstream in(path());
    std::vector<std::string> all;
    for (std::string line; std::getline(in, line);) all.push_back(line);
    return all;
  }

 private:
  std::filesystem::path directory_;
};

TEST_CASE("lines are in NNI's format") {
  const LogFile file;
  const Log log = Log::to_file(file.path(), LogLevel::debug, false).value();
  log.named("dispatcher").info("Dispatcher started id={} loss={:.2f}", 12, 0.314);
  log.named("tuner").warning("{}", "a {} that is text");
  log.error("broken");
  std::thread([&] {
    pthread_setname_np(pthread_self(), "tune");
    log.named("dispatcher").debug("in a worker");
  }).join();
  log.flush();

  const auto lines = file.lines();
  REQUIRE(lines.size() == 4);
  const std::string time = R"(\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] )";
  CHECK(std::regex_match(lines[0], std::regex(time + R"(INFO \(dispatcher/MainThread\) )"
                                                     R"(Dispatcher started id=12 loss=0\.31)")));
  CHECK(std::regex_match(lines[1],
                         std::regex(time + R"(WARNING \(tuner/MainThread\) a \{\} that is text)")));
  CHECK(std::regex_match(lines[2], std::regex(time + R"(ERROR \(\S+/MainThread\) broken)")));
  CHECK(std::regex_match(lines[3], std::regex(time + R"(DEBUG \(dispatcher/tune\) in a worker)")));
}

TEST_CASE("a level hides what is below it") {
  const LogFile file;
  const Log log = Log::to_file(file.path(), LogLevel::warning, false).value();
  CHECK_FALSE(log.enabled(LogLevel::info));
  CHECK(log.enabled(LogLevel::error));
  CHECK_FALSE(log.named("room").enabled(LogLevel::info));
  log.info("hidden");
  log.warning("shown");
  log.flush();
  CHECK(file.lines().size() == 1);
  CHECK(Log::to_file("/dev/fd/1", LogLevel::info, false));  // /dev/fd is one
}

TEST_CASE("a file is appended to") {
  const LogFile file;
  for (int i = 0; i < 2; ++i) Log::to_file(file.path(), LogLevel::info, false).value().info("hi");
  CHECK(file.lines().size() == 2);
}

TEST_CASE("an unwritable file is an error that names it") {
  const auto log = Log::to_file("/dev/null/x.log", LogLevel::info, false);
  REQUIRE_FALSE(log);
  CHECK(log.error().message.find("/dev/null/x.log") != std::string::npos);
}

TEST_CASE("a log file is for its owner, and so are its directories") {
  const LogFile file;
  Log::to_file(file.path(), LogLevel::info, false).value().info("hi");
  namespace fs = std::filesystem;
  CHECK(fs::status(file.path()).permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  const fs::path directory = fs::path(file.path()).parent_path();
  CHECK(fs::status(directory).permissions() == fs::perms::owner_all);
}

TEST_CASE("a log is not written through a symbolic link") {
  const LogFile file;
  Log::to_file(file.path(), LogLevel::info, false).value().info("hi");
  const std::string link = file.path() + ".link";
  std::filesystem::create_symlink(file.path(), link);
  const auto log = Log::to_file(link, LogLevel::info, false);
  REQUIRE_FALSE(log);
  CHECK(log.error().message.find("symbolic link") != std::string::npos);
  CHECK(log.error().message.find(link) != std::string::npos);
  CHECK(file.lines().size() == 1);
}

TEST_CASE("a log is not written into a pipe that lies in the place of its file") {
  const LogFile file;
  Log::to_file(file.path(), LogLevel::info, false).value().info("hi");
  const std::string pipe = file.path() + ".pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  const auto unread = Log::to_file(pipe, LogLevel::info, false);
  REQUIRE_FALSE(unread);
  CHECK(unread.error().message.find("a pipe that nobody reads") != std::string::npos);
  const UniqueFd reader(::open(pipe.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  const auto read = Log::to_file(pipe, LogLevel::info, false);
  REQUIRE_FALSE(read);
  CHECK(read.error().message.find("no regular file") != std::string::npos);
}

TEST_CASE("a message is one line, whatever is in it") {
  const LogFile file;
  const Log log = Log::to_file(file.path(), LogLevel::info, false).value();
  log.warning("job {} ends", std::string("a\n[2026] ERROR\x1b[2J\0z", 20));
  log.warning("{}", std::string(1 << 20, 'x'));
  log.flush();
  const auto lines = file.lines();
  REQUIRE(lines.size() == 2);
  CHECK(lines[0].ends_with(R"(job a\x0a[2026] ERROR\x1b[2J\x00z ends)"));
  CHECK(lines[1].size() < 5000);
  CHECK(lines[1].ends_with("x... (1048576 bytes)"));
}

TEST_CASE("of one kind of line some are written a second, and the last of them says so") {
  LineRate rate(3);
  using enum LineRate::Verdict;
  const int kind = 0, other = 0;
  for (const std::int64_t second : {7, 8, 5}) {
    CHECK(rate.ask(&kind, second) == write);
    CHECK(rate.ask(&kind, second) == write);
    CHECK(rate.ask(&kind, second) == write_last);
    CHECK(rate.ask(&kind, second) == leave_out);
    CHECK(rate.ask(&other, second) == write);
    CHECK(rate.ask(&kind, second) == leave_out);
  }

  const LogFile file;
  const Log log = Log::to_file(file.path(), LogLevel::trace, false).value().limited(1);
  for (int i = 0; i < 100'000; ++i) log.named("room").warning("flood {}", i);
  for (int i = 0; i < 10; ++i) log.debug("asked for {}", i);
  log.flush();
  const auto lines = file.lines();
  CHECK(lines.size() < 10'000);
  CHECK(lines[0].ends_with("flood 0 (more such lines are left out in this second)"));
  CHECK(lines.back().ends_with("asked for 9"));
  CHECK(lines[lines.size() - 10].ends_with("asked for 0"));
}

TEST_CASE("a default-made log discards") {
  const Log log;
  CHECK_FALSE(log.enabled(LogLevel::error));
  log.error("nobody hears {}", 1);
  log.named("room").error("nor here");
  log.flush();
}

TEST_CASE("level names are those of NNI") {
  CHECK(parse_log_level("trace").value() == LogLevel::trace);
  CHECK(parse_log_level("warning").value() == LogLevel::warning);
  CHECK(parse_log_level("warn").value() == LogLevel::warning);
  CHECK(parse_log_level("fatal").value() == LogLevel::error);
  CHECK(parse_log_level("critical").value() == LogLevel::error);
  CHECK_FALSE(parse_log_level("INFO"));
  CHECK_FALSE(parse_log_level(""));
}

}  // namespace attune::log_test

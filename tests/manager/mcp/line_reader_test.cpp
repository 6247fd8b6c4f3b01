// Lines of a client, however they come.
#include "manager/mcp/line_reader.h"

#include <catch2/catch.hpp>
#include <thread>
#include <vector>

#include "tests/manager/mcp/input_pipe.h"

namespace attune::line_reader_test {

constexpr std::size_t kMost = 10;

TEST_CASE("line reader: lines, empty ones, and the rest at the end") {
  InputPipe pipe;
  pipe.write("one\n\ntwo\nthr");
  pipe.close();
  LineReader reader(pipe.read_end.get(), kMost);
  for (const char* text : {"one", "", "two", "thr"}) {
    const auto line = reader.next(true);
    REQUIRE(line);
    CHECK(line->text == text);
    CHECK_FALSE(line->too_long);
  }
  CHECK_FALSE(reader.next(true));
  CHECK_FALSE(reader.next(true));
}

TEST_CASE("line reader: does not wait when it is told not to") {
  InputPipe pipe;
  LineReader reader(pipe.read_end.get(), kMost);
  CHECK_FALSE(reader.next(false));
  pipe.write("half");
  CHECK_FALSE(reader.next(false));
  pipe.write(" one\n");
  CHECK(reader.next(false).value().text == "half one");
  CHECK_FALSE(reader.next(false));
}

TEST_CASE("line reader: a line that is too long is one line, and harms no other") {
  for (const std::size_t size : {kMost, kMost + 1, std::size_t{3'000'000}}) {
    for (const bool ended : {true, false}) {
      INFO("size " << size << " ended " << ended);
      InputPipe pipe;
      std::thread client([&] {
        pipe.write("a\n" + std::string(size, 'x') + (ended ? "\nb\n" : ""));
        pipe.close();
      });
      LineReader reader(pipe.read_end.get(), kMost);
      CHECK(reader.next(true).value().text == "a");
      const auto line = reader.next(true);
      REQUIRE(line);
      CHECK(line->too_long == (size > kMost));
      CHECK(line->text.size() == (size > kMost ? 0 : size));
      if (ended) CHECK(reader.next(true).value().text == "b");
      CHECK_FALSE(reader.next(true));
      client.join();
    }
  }
}

TEST_CASE("line reader: a descriptor that cannot be read is at its end") {
  LineReader reader(-1, kMost);
  CHECK_FALSE(reader.next(true));
}

}  // namespace attune::line_reader_test

#include "manager/interchange/proto_message.h"

#include <catch2/catch.hpp>

namespace attune::proto_message_test {

using namespace std::string_literals;

TEST_CASE("proto message: the examples of the encoding's description") {
  CHECK(ProtoMessage().integer(1, 150).bytes() == "\x08\x96\x01");
  CHECK(ProtoMessage().text(2, "testing").bytes() == "\x12\x07testing");
  CHECK(ProtoMessage().message(3, ProtoMessage().integer(1, 150)).bytes() ==
        "\x1a\x03\x08\x96\x01");
}

TEST_CASE("proto message: every kind of number") {
  CHECK(ProtoMessage().integer(1, -2).bytes() == "\x08\xfe\xff\xff\xff\xff\xff\xff\xff\xff\x01");
  CHECK(ProtoMessage().integer(16, 0).bytes() == "\x80\x01\x00"s);
  CHECK(ProtoMessage().real(1, 1.5).bytes() == "\x09\x00\x00\x00\x00\x00\x00\xf8\x3f"s);
  CHECK(ProtoMessage().single(2, 1.5F).bytes() == "\x15\x00\x00\xc0\x3f"s);
  CHECK(ProtoMessage().text(1, std::string(200, 'x')).bytes() ==
        "\x0a\xc8\x01" + std::string(200, 'x'));
}

}  // namespace attune::proto_message_test

#pragma once
// Writes a message of Protocol Buffers: fields, each with the number that the message's description
// gives it. A field that is not written has its default.
#include <cstdint>
#include <string>
#include <string_view>

namespace attune {

class ProtoMessage {
 public:
  ProtoMessage& integer(int field, std::int64_t value);  // int32, int64, enum, bool
  ProtoMessage& real(int field, double value);           // double
  ProtoMessage& single(int field, float value);          // float
  ProtoMessage& text(int field, std::string_view value);
  ProtoMessage& message(int field, const ProtoMessage& value) { return text(field, value.bytes_); }

  const std::string& bytes() const { return bytes_; }

 private:
  void key(int field, int wire_type);
  void varint(std::uint64_t value);
  void fixed(std::uint64_t bits, int bytes);

  std::string bytes_;
};

}  // namespace attune

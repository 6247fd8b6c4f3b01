#include "manager/interchange/proto_message.h"

#include <bit>

namespace attune {

void ProtoMessage::varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_ += static_cast<char>((value & 0x7F) | 0x80);
  bytes_ += static_cast<char>(value);
}

void ProtoMessage::key(int field, int wire_type) {
  varint(static_cast<std::uint64_t>(field) << 3 | static_cast<std::uint64_t>(wire_type));
}

void ProtoMessage::fixed(std::uint64_t bits, int bytes) {
  for (int i = 0; i < bytes; ++i) bytes_ += static_cast<char>(bits >> (8 * i) & 0xFF);
}

ProtoMessage& ProtoMessage::integer(int field, std::int64_t value) {
  key(field, 0);
  varint(static_cast<std::uint64_t>(value));
  return *this;
}

ProtoMessage& ProtoMessage::real(int field, double value) {
  key(field, 1);
  fixed(std::bit_cast<std::uint64_t>(value), 8);
  return *this;
}

ProtoMessage& ProtoMessage::single(int field, float value) {
  key(field, 5);
  fixed(std::bit_cast<std::uint32_t>(value), 4);
  return *this;
}

ProtoMessage& ProtoMessage::text(int field, std::string_view value) {
  key(field, 2);
  varint(value.size());
  bytes_ += value;
  return *this;
}

}  // namespace attune

#include "manager/interchange/event_file.h"

#include <fmt/format.h>
#include <string.h>

#include <bit>

#include "base/crc32c.h"
#include "os/private_file.h"

namespace attune {
namespace {

std::string little_endian(std::uint64_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i) text += static_cast<char>(value >> (8 * i) & 0xFF);
  return text;
}

std::string masked_checksum(std::string_view bytes) {
  return little_endian(std::rotr(crc32c(bytes), 15) + 0xa282ead8U, 4);
}

}  // namespace

Result<EventFile> EventFile::make(const std::filesystem::path& folder, double time) {
  TRY(make_directories(folder));
  const auto path =
      folder / fmt::format("events.out.tfevents.{}.attune", static_cast<std::int64_t>(time));
  EventFile made(path, std::fopen(path.c_str(), "we"));
  if (made.file_ == nullptr)
    return fail(fmt::format("cannot write {}: {}", path.string(), strerror(errno)));
  made.write(ProtoMessage().real(1, time).text(3, "brain.Event:2"));
  return made;
}

void EventFile::write(const ProtoMessage& event) {
  const std::string length = little_endian(event.bytes().size(), 8);
  const std::string record =
      length + masked_checksum(length) + event.bytes() + masked_checksum(event.bytes());
  std::fwrite(record.data(), 1, record.size(), file_.get());
}

void EventFile::write_value(const ProtoMessage& value, std::int64_t step, double time) {
  write(ProtoMessage().real(1, time).integer(2, step).message(5, ProtoMessage().message(1, value)));
}

void EventFile::scalar(const std::string& tag, std::int64_t step, double value, double time) {
  write_value(ProtoMessage().text(1, tag).single(2, static_cast<float>(value)), step, time);
}

void EventFile::hparams(const std::string& tag, int field, const ProtoMessage& data, double time) {
  const ProtoMessage content = ProtoMessage().integer(1, 0).message(field, data);  // version 0
  const ProtoMessage plugin = ProtoMessage().text(1, "hparams").text(2, content.bytes());
  // TensorBoard wants a tensor in each value: float, one element, 0.
  const ProtoMessage shape = ProtoMessage().message(2, ProtoMessage().integer(1, 1));
  const ProtoMessage tensor = ProtoMessage().integer(1, 1).message(2, shape).single(5, 0);
  write_value(
      ProtoMessage().text(1, tag).message(8, tensor).message(9, ProtoMessage().message(1, plugin)),
      0, time);
}

Result<void> EventFile::close() {
  std::FILE* file = file_.release();
  const bool failed = std::ferror(file) != 0;
  if (std::fclose(file) != 0 || failed)
    return fail(fmt::format("cannot write {}: {}", path_.string(), strerror(errno)));
  return {};
}

}  // namespace attune

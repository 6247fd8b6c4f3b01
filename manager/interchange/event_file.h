#pragma once
// Writes an event file of TensorBoard: records (length, checksum, payload, checksum), each an Event
// in Protocol Buffers.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include "base/result.h"
#include "manager/interchange/proto_message.h"

namespace attune {

class EventFile {
 public:
  // Makes the folder and the file in it, in place of one of the same time. Times are seconds since
  // 1970-01-01 UTC.
  static Result<EventFile> make(const std::filesystem::path& folder, double time);

  void scalar(const std::string& tag, std::int64_t step, double value, double time);
  // Data of the HParams plug-in: field `field` of its HParamsPluginData.
  void hparams(const std::string& tag, int field, const ProtoMessage& data, double time);
  Result<void> close();  // error: something could not be written

 private:
  struct Closer {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  EventFile(std::filesystem::path path, std::FILE* file) : path_(std::move(path)), file_(file) {}
  void write(const ProtoMessage& event);
  void write_value(const ProtoMessage& value, std::int64_t step, double time);

  std::filesystem::path path_;
  std::unique_ptr<std::FILE, Closer> file_;
};

}  // namespace attune

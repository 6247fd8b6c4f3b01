#pragma once
// The buffers of the tasks. A buffer exists from the creation of its owner until the owner ends.
// Collectors can fill it before the owner has a worker.
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "base/json.h"
#include "base/result.h"
#include "cluster/pool/task_buffers.h"
#include "cluster/workload/buffer/served_buffer.h"

namespace attune {

class BufferBoard final : public TaskBuffers {
 public:
  BufferBoard(std::uint64_t seed, BufferOutlets outlets);
  BufferBoard(const BufferBoard&) = delete;
  BufferBoard& operator=(const BufferBoard&) = delete;

  Result<void> check(const TaskSpec& task) const override;
  void hear(const Record& record, const Task* task) override;
  Result<void> replay(const json& record) override;
  Result<void> hear(BufferSession session, const Task& task, const json& message) override;
  void gone(BufferSession session) override;
  json status() const override;
  json save() const override;
  Result<void> load(const json& state) override;

 private:
  ServedBuffer* find(const std::string& id) const;
  void open(const OwnedBuffer& buffer, const std::string& owner);
  void close(const std::string& id, const std::string& owner);
  void forget_attempt(const Task& task, int attempt);

  const std::uint64_t seed_;
  const BufferOutlets outlets_;
  std::map<std::string, std::unique_ptr<ServedBuffer>> buffers_;  // closed ones are removed
};

std::unique_ptr<TaskBuffers> make_buffer_board(std::uint64_t seed, BufferOutlets outlets);

}  // namespace attune

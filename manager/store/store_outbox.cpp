#include "manager/store/store_outbox.h"

#include <tuple>
#include <utility>

namespace attune {

void StoreOutbox::append(std::uint64_t number, const Frame& command) {
  std::ignore = store_.add_command(number, command);
}

void StoreOutbox::drop(std::uint64_t first, std::uint64_t last) {
  std::ignore = store_.drop_commands(first, last);
}

void StoreOutbox::forget() { std::ignore = store_.forget_conversation(); }

void StoreOutbox::on_commit(std::function<void()> committed) {
  store_.on_commit(std::move(committed));
}

}  // namespace attune

#include "plugins/abi_instance.h"

#include <algorithm>
#include <utility>

namespace attune {
namespace {

constexpr std::size_t kMostState = std::size_t{256}
                                   << 20;  // bytes: a snapshot holds four times that

void append_text(void* context, const char* text, std::size_t size) {
  auto& all = *static_cast<std::string*>(context);
  // One byte too many shows that it was too long.
  all.append(text, std::min(size, kMostState + 1 - all.size()));
}

}  // namespace

Result<void> AbiInstance::create() {
  destroy();
  const AbiSetup setup(setup_);
  void* self = nullptr;
  TRY(call_plugin(algorithm_.create, setup.get(), &self));
  self_ = self;
  return {};
}

// An exception here has nobody to tell: the instance is gone either way.
void AbiInstance::destroy() {
  void* self = std::exchange(self_, nullptr);
  if (!self) return;
  try {
    algorithm_.destroy(self);
  } catch (...) {
    return;
  }
}

Result<json> AbiInstance::save() {
  std::string text;
  TRY(call_plugin(algorithm_.save, self_, &append_text, static_cast<void*>(&text)));
  if (text.size() > kMostState) return fail("save: a state of more than 256 MiB");
  if (!is_utf8(text)) return fail("save: a state that is not UTF-8");
  return json(std::move(text));
}

Result<void> AbiInstance::load(const json& state) {
  if (!state.is_string()) return fail("load: the state is no text");
  const auto& text = state.get_ref<const std::string&>();
  return call_plugin(algorithm_.load, self_, text.c_str(), text.size());
}

}  // namespace attune

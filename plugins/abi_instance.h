#pragma once
// One instance of an algorithm behind the functions of attune_plugin.h.
#include "plugins/abi_values.h"

namespace attune {

class AbiInstance {
 public:
  AbiInstance(const attune_algorithm& algorithm, PluginSetup setup)
      : algorithm_(algorithm), setup_(std::move(setup)) {}
  ~AbiInstance() { destroy(); }
  AbiInstance(const AbiInstance&) = delete;
  AbiInstance& operator=(const AbiInstance&) = delete;

  // Makes the instance, anew if there is one.
  Result<void> create();
  void* self() const { return self_; }

  // The state is the plug-in's text as JSON.
  Result<json> save();
  Result<void> load(const json& state);

 private:
  void destroy();

  const attune_algorithm& algorithm_;
  const PluginSetup setup_;
  void* self_ = nullptr;
};

}  // namespace attune

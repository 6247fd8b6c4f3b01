#include "plugins/shared_object.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>

#include "plugins/abi_description.h"
#include "plugins/abi_tuner.h"

namespace attune {
namespace {

namespace fs = std::filesystem;

class SharedObject final : public Plugin {
 public:
  SharedObject(std::string name, const attune_plugin& plugin,
               std::vector<PluginDescription> algorithms)
      : name_(std::move(name)), plugin_(plugin), algorithms_(std::move(algorithms)) {}

  const std::string& name() const override { return name_; }
  const std::vector<PluginDescription>& algorithms() const override { return algorithms_; }

  Result<std::unique_ptr<PluginTuner>> make_tuner(const PluginDescription& which,
                                                  PluginSetup setup) override {
    return make_abi_tuner(algorithm_of(which), std::move(setup));
  }
  Result<std::unique_ptr<PluginAssessor>> make_assessor(const PluginDescription& which,
                                                        PluginSetup setup) override {
    return make_abi_assessor(algorithm_of(which), std::move(setup));
  }

 private:
  // `which` is one of algorithms_, which are in the order of the plug-in's own.
  const attune_algorithm& algorithm_of(const PluginDescription& which) const {
    return plugin_.algorithms[&which - algorithms_.data()];
  }

  const std::string name_;
  const attune_plugin& plugin_;
  const std::vector<PluginDescription> algorithms_;
};

std::string last_error() {
  const char* text = ::dlerror();
  return text ? text : "dlopen failed";
}

Result<void*> load_file(const std::string& file) {
  std::error_code error;
  const fs::path path = fs::absolute(file, error);
  if (!fs::exists(path, error)) return fail("there is no such file");
  if (!fs::is_regular_file(path, error)) return fail("it is no file");
  // dlopen() is declared as a function that throws nothing, and the compiler leaves out the
  // handlers around a call of it. But constructors of the file may throw through it.
  void* (*volatile open)(const char*, int) = &::dlopen;
  try {
    // RTLD_NOW: what is missing shows here, and not in the middle of an experiment.
    void* handle = open(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle) return fail(last_error());
    return handle;
  } catch (const std::exception& thrown) {
    return fail(std::string("an exception while it was loaded: ") + thrown.what());
  } catch (...) {
    return fail("an exception while it was loaded");
  }
}

template <class Function>
Result<Function*> symbol(void* handle, const char* name) {
  void* found = ::dlsym(handle, name);
  if (!found) {
    return fail(
        fmt::format("it has no function {}: it is no plug-in of attuned (docs/plugins.md)", name));
  }
  return reinterpret_cast<Function*>(found);
}

Result<std::unique_ptr<Plugin>> open_file(const std::string& file) {
  void* handle = TRY(load_file(file));
  auto* const abi = TRY(symbol<decltype(attune_plugin_abi)>(handle, "attune_plugin_abi"));
  if (const std::uint32_t version = abi(); version != ATTUNE_PLUGIN_ABI) {
    return fail(
        fmt::format("it was made for version {} of the plug-in interface, and this attuned has "
                    "version {}: compile it with the installed attune_plugin.h",
                    version, ATTUNE_PLUGIN_ABI));
  }
  auto* const describe =
      TRY(symbol<decltype(attune_plugin_describe)>(handle, "attune_plugin_describe"));
  const attune_plugin* plugin = nullptr;
  TRY(call_plugin(describe, &plugin));
  if (!plugin) return fail("attune_plugin_describe() describes nothing");
  auto algorithms = TRY(descriptions_of(*plugin));
  return std::make_unique<SharedObject>(file, *plugin, std::move(algorithms));
}

}  // namespace

Result<std::unique_ptr<Plugin>> open_shared_object(const std::string& file) {
  auto plugin = open_file(file);
  if (!plugin) return fail_at("plug-in " + file, plugin.error().message);
  return plugin;
}

}  // namespace attune

// Plug-ins with a flaw. ODD says which.
#include <attune/plugins/attune_plugin.hpp>

#define ODD_VERSION 1
#define ODD_SYMBOL 2
#define ODD_LOAD 3
#define ODD_DESCRIBE 4
#define ODD_CALLS 5
#define ODD_NAME 6

namespace {

using namespace attune::plugin;

// Throws past the interface, as a plug-in that does not use the classes may.
struct Thrower {
  Thrower() {
    if (ODD == ODD_LOAD) throw std::runtime_error("thrown while it was loaded");
  }
};
const Thrower thrower;

class Thrown : public Tuner {
 public:
  explicit Thrown(const Setup& setup) {
    if (setup.text("when") == "create") throw std::runtime_error("thrown by create");
  }
  void set_space(const Space&) override {}
  Answer ask(std::int64_t) override { throw std::runtime_error("thrown by ask"); }
  void tell(const Outcome&) override { throw 7; }
  void adopt(std::int64_t, const Point&) override {}
};

}  // namespace

#if ODD == ODD_VERSION
uint32_t attune_plugin_abi(void) { return 99; }
const char* attune_plugin_describe(const struct attune_plugin**) { return "never called"; }
#elif ODD == ODD_SYMBOL
uint32_t attune_plugin_abi(void) { return ATTUNE_PLUGIN_ABI; }
#elif ODD == ODD_DESCRIBE
uint32_t attune_plugin_abi(void) { return ATTUNE_PLUGIN_ABI; }
const char* attune_plugin_describe(const struct attune_plugin**) {
  throw std::runtime_error("thrown by describe");
}
#elif ODD == ODD_NAME
ATTUNE_PLUGIN(
    attune::plugin::tuner<Thrown>("TPE", "the name of a built-in tuner").argument("when", "", ""))
#else
ATTUNE_PLUGIN(attune::plugin::tuner<Thrown>("Thrown", "throws").argument("when", "never", ""))
#endif

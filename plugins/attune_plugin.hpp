#pragma once
// A plug-in of attuned in C++: classes around attune_plugin.h. It needs no other header of attune,
// no library, and C++17. Exceptions that leave these functions become errors of the plug-in.
//
//   class Mine : public attune::plugin::Tuner { ... };
//
//   ATTUNE_PLUGIN(attune::plugin::tuner<Mine>("Mine", "What it does in one line")
//                     .argument("sigma", 0.1, "the first step", 1e-6, 1)
//                     .saves())
//
// Compile it as a shared object: c++ -shared -fPIC -o mine.so mine.cpp, and use it by
// attuned --plugin ./mine.so, or by `plugins: [mine.so]` in the file of an experiment.
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "plugins/attune_plugin.h"
#include "plugins/plugin_functions.hpp"
#include "plugins/plugin_types.hpp"

namespace attune::plugin {

// What attuned is told of an algorithm before one is made.
class Description {
 public:
  Description(const attune_algorithm& algorithm, std::string name, std::string summary,
              decltype(attune_algorithm::save) save, decltype(attune_algorithm::load) load)
      : algorithm_(algorithm),
        name_(std::move(name)),
        summary_(std::move(summary)),
        save_(save),
        load_(load) {}

  // The type of an argument follows from its default. A NaN is null.
  Description& argument(const char* name, double fallback, const char* help, double low = kInactive,
                        double high = kInactive) {
    const std::string text = std::isnan(fallback) ? "null" : detail::json_number(fallback);
    return add({name, help, text, {}, ATTUNE_ARGUMENT_NUMBER, low, high});
  }
  Description& argument(const char* name, int fallback, const char* help, double low = kInactive,
                        double high = kInactive) {
    return add({name, help, std::to_string(fallback), {}, ATTUNE_ARGUMENT_INTEGER, low, high});
  }
  Description& argument(const char* name, bool fallback, const char* help) {
    return add({name, help, fallback ? "true" : "false", {}, ATTUNE_ARGUMENT_BOOLEAN});
  }
  Description& argument(const char* name, const char* fallback, const char* help) {
    return add({name, help, detail::json_text(fallback), {}, ATTUNE_ARGUMENT_TEXT});
  }
  Description& choice(const char* name, const char* fallback, const char* help,
                      std::vector<std::string> choices) {
    return add(
        {name, help, detail::json_text(fallback), std::move(choices), ATTUNE_ARGUMENT_CHOICE});
  }
  Description& maximizes() {
    algorithm_.maximizes = 1;
    return *this;
  }
  Description& wants_reports() {
    algorithm_.wants_reports = 1;
    return *this;
  }
  Description& saves() {
    algorithm_.save = save_;
    algorithm_.load = load_;
    return *this;
  }

  // Valid as long as this object is, and as it is not changed.
  attune_algorithm get() {
    declarations_.clear();
    for (Declared& d : declared_) {
      d.pointers.clear();
      for (const std::string& choice : d.choices) d.pointers.push_back(choice.c_str());
      d.pointers.push_back(nullptr);
      declarations_.push_back({d.name.c_str(), d.help.c_str(), d.type, d.fallback.c_str(), d.low,
                               d.high, d.pointers.data()});
    }
    algorithm_.name = name_.c_str();
    algorithm_.summary = summary_.c_str();
    algorithm_.arguments = declarations_.data();
    algorithm_.argument_count = declarations_.size();
    return algorithm_;
  }

 private:
  struct Declared {
    std::string name, help, fallback;
    std::vector<std::string> choices;
    std::int32_t type = 0;
    double low = kInactive, high = kInactive;
    std::vector<const char*> pointers = {};
  };

  Description& add(Declared declared) {
    declared_.push_back(std::move(declared));
    return *this;
  }

  attune_algorithm algorithm_;
  std::string name_, summary_;
  decltype(attune_algorithm::save) save_;
  decltype(attune_algorithm::load) load_;
  std::vector<Declared> declared_;
  std::vector<attune_argument_declaration> declarations_;
};

template <class Class>
Description tuner(std::string name, std::string summary) {
  attune_algorithm algorithm{};
  algorithm.create = &detail::create<Tuner, Class>;
  algorithm.destroy = &detail::destroy<Tuner>;
  algorithm.tuner = &detail::tuner_functions();
  return Description(algorithm, std::move(name), std::move(summary), &detail::save<Tuner>,
                     &detail::load<Tuner>);
}

template <class Class>
Description assessor(std::string name, std::string summary) {
  attune_algorithm algorithm{};
  algorithm.create = &detail::create<Assessor, Class>;
  algorithm.destroy = &detail::destroy<Assessor>;
  algorithm.assessor = &detail::assessor_functions();
  return Description(algorithm, std::move(name), std::move(summary), &detail::save<Assessor>,
                     &detail::load<Assessor>);
}

// The descriptions of a plug-in, which live as long as the program.
class Registration {
 public:
  explicit Registration(std::vector<Description> descriptions)
      : descriptions_(std::move(descriptions)) {
    for (Description& description : descriptions_) algorithms_.push_back(description.get());
    plugin_ = {algorithms_.data(), algorithms_.size()};
  }
  const attune_plugin* get() const { return &plugin_; }

 private:
  std::vector<Description> descriptions_;
  std::vector<attune_algorithm> algorithms_;
  attune_plugin plugin_{};
};

}  // namespace attune::plugin

// Once in a shared object, outside of any namespace: the descriptions, separated by commas.
#define ATTUNE_PLUGIN(...)                                                            \
  uint32_t attune_plugin_abi(void) { return ATTUNE_PLUGIN_ABI; }                      \
  const char* attune_plugin_describe(const struct attune_plugin** attune_described) { \
    static std::string attune_error;                                                  \
    return attune::plugin::detail::guarded(attune_error, [&] {                        \
      static const attune::plugin::Registration attune_registration({__VA_ARGS__});   \
      *attune_described = attune_registration.get();                                  \
    });                                                                               \
  }

#pragma once
// A catalogue of algorithms: a value that main fills from an explicit list, and that plug-ins may
// add to. An Entry has `name`, `aliases`, `arguments` and more (tuners/registry.h,
// assessors/registry.h).
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "base/arguments.h"
#include "base/result.h"

namespace attune {

template <class Entry>
class Catalog {
 public:
  void add(Entry entry) { entries_.push_back(std::move(entry)); }
  const std::vector<Entry>& entries() const { return entries_; }

  // Finds an entry by its name or an alias, ignoring case. `kind` ("tuner") is for the error
  // message, which lists the known names and the nearest one. The pointer is valid until the next
  // add().
  Result<const Entry*> find(std::string_view name, std::string_view kind) const {
    std::vector<std::string> names;
    for (const Entry& entry : entries_) {
      if (same(entry.name, name)) return &entry;
      for (const std::string& alias : entry.aliases) {
        if (same(alias, name)) return &entry;
      }
      names.push_back(entry.name);
    }
    std::string message = "unknown " + std::string(kind) + " \"" + std::string(name) + "\"";
    const std::string near = nearest_name(name, names);
    message += near.empty() ? "." : "; did you mean \"" + near + "\"?";
    message += " Known: ";
    for (std::size_t i = 0; i < names.size(); ++i) message += (i ? ", " : "") + names[i];
    return fail(message);
  }

 private:
  static bool same(std::string_view a, std::string_view b) {
    auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; };
    return std::ranges::equal(a, b, {}, lower, lower);
  }

  std::vector<Entry> entries_;
};

}  // namespace attune

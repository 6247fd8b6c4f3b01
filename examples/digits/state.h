#pragma once

#include <cstddef>
#include <istream>
#include <ostream>
#include <vector>

namespace digits {

// Numbers as they are in memory: a trial that goes on must have the very same ones.
template <typename T>
void put(std::ostream& out, const std::vector<T>& values) {
  out << values.size() << '\n';
  out.write(reinterpret_cast<const char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(T)));
}

// `most`: more of them would be damage. The stream fails if it is damaged.
template <typename T>
void get(std::istream& in, std::vector<T>& values, std::size_t most) {
  std::size_t size = 0;
  in >> size;
  in.get();
  if (size > most) in.setstate(std::ios::failbit);
  if (!in) return;
  values.resize(size);
  in.read(reinterpret_cast<char*>(values.data()), static_cast<std::streamsize>(size * sizeof(T)));
}

}  // namespace digits

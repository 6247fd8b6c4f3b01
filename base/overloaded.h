#pragma once
// One visitor of a variant, out of a lambda for each alternative.

namespace attune {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace attune

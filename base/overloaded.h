#pragma once
// Makes one visitor of a variant from several lambdas, one for each alternative.

namespace attune {

template <class... F>
struct Overloaded : F... {
  using F::operator()...;
};

}  // namespace attune

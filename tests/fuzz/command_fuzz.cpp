// Any code and payload: decode gives an error, or a command that survives the wire.
// The first two input bytes are the code.
#include "protocol/codec.h"
#include "tests/fuzz/fuzz.h"

using namespace attune;

FUZZ_TARGET(input) {
  if (input.size() < 2) return;
  const auto command = decode({std::string(input.substr(0, 2)), std::string(input.substr(2))});
  if (!command) return;
  const Frame written = encode(*command);
  const auto again = decode(written);
  ATTUNE_CHECK(again && encode(*again) == written);
}

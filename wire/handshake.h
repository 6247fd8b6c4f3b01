#pragma once
// How two sides that share a secret convince each other that they do, without saying it, and agree
// on a key for the encryption that follows. Frames before the encryption (docs/wire.md):
//
//   client: hello {version, role, name, nonce}
//   server: challenge {version, nonce, proof}       or error {message, final}
//   client: proof {proof}
//
// A proof is the HMAC-SHA256 under the secret of the role, over who proves, and over everything
// that both have said: version, role, name, both nonces. The server proves itself first: who
// listens at the place of a coordinator and does not know the secret hears no more than a hello,
// and gets no proof to pass on. The encryption shows that nobody stands between the two: its key is
// one more HMAC over the same, which whoever only passes on what they say does not know.
//
// State machines without I/O. One thread.
#include <cstddef>
#include <expected>
#include <map>
#include <optional>
#include <string>

#include "base/json.h"
#include "wire/json_frames.h"
#include "wire/secret.h"
#include "wire/wire_version.h"

namespace attune {

// The secret of each role: worker, client, ...
using Secrets = std::map<std::string, Secret>;

// Who dials.
struct Identity {
  std::string role;
  std::string name;  // which one of its role; may be empty

  bool operator==(const Identity&) const = default;
};
inline constexpr std::size_t kMostNameBytes = 256;  // of a role or name

// No frame before the encryption needs more.
inline constexpr JsonFrameLimits kHandshakeLimits = {
    .bytes = std::size_t{4} << 10,
    .json = {.depth = 4, .keys = 32, .values = 64},
};

struct Refusal {
  // To the other side a sentence. Of the other side what it does: "does not know the secret ...",
  // which is to stand behind its name.
  std::string message;
  bool final = false;  // another try would end in the same way, while both sides stay as they are
};

template <class T>
using Answer = std::expected<T, Refusal>;

// The side that dials.
class ClientHandshake {
 public:
  ClientHandshake(Identity self, const Secret& secret, const Bytes32& nonce,
                  int version = kWireVersion);

  json hello() const;
  // To what came after hello: the proof that is to be said. Or why nothing more is to be said: the
  // other side refuses, has another version, does not know the secret. Once.
  Answer<json> answer(const json& challenge);
  const Secret& key() const { return *key_; }  // of the encryption; after an answer

 private:
  Identity self_;
  Secret secret_;
  Bytes32 nonce_;
  int version_;
  std::optional<Secret> key_;
};

// The side that listens.
class ServerHandshake {
 public:
  // `secrets` lives longer.
  ServerHandshake(const Secrets& secrets, const Bytes32& nonce, int version = kWireVersion);

  // The next frame of the client: the challenge that answers its hello, or an empty object when its
  // proof is good and it has become peer(). Or how it is to be refused, which is the end.
  Answer<json> hear(const json& message);
  bool done() const { return key_.has_value(); }
  const Identity& peer() const { return peer_; }
  const Secret& key() const { return *key_; }  // of the encryption; when done

 private:
  Answer<json> challenge(const json& hello);
  Answer<json> check(const json& proof);

  const Secrets& secrets_;
  Bytes32 nonce_;
  int version_;
  Identity peer_;
  std::optional<Secret> secret_;  // of the peer's role, since its hello
  std::string said_;              // all that both have said
  std::optional<Secret> key_;
};

}  // namespace attune

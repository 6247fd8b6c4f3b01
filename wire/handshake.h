#pragma once
// The handshake: two sides prove to each other that they share a secret, without sending it, and
// agree on a key for the encryption that follows. Frames before the encryption (docs/wire.md):
//
//   client: hello {version, role, name, nonce}
//   server: challenge {version, nonce, proof}       or error {message, final}
//   client: proof {proof}
//
// A proof is an HMAC-SHA256 under the secret of the role, over its purpose (which side proves), and
// over version, role, name and both nonces:
//
// * Both nonces make it valid for one connection only.
// * The purpose prevents that it is sent back to the side that made it.
// * Role, name and version are in it, so that nobody between the two sides can change them.
//
// The server proves itself first: a stranger who listens at the address of a stopped coordinator
// gets only a hello, and no proof to forward. The key of the encryption is one more HMAC over the
// same data. A stranger who only forwards messages does not know it.
//
// State machines without I/O. One thread at a time.
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
inline constexpr std::size_t kMostNameBytes = 256;  // of a role, and of a name

// Frames of a peer that has proven nothing yet cost little memory. No handshake frame needs more.
inline constexpr JsonFrameLimits kHandshakeLimits = {
    .bytes = std::size_t{4} << 10,
    .json = {.depth = 4, .keys = 32, .values = 64},
};

struct HandshakeRefusal {
  // From ServerHandshake: a sentence to send to the other side. From ClientHandshake: a predicate
  // to print behind the other side's address, such as "does not know the secret ...".
  std::string message;
  bool final = false;  // another attempt would end in the same way, unless one side changes
};

template <class T>
using Answer = std::expected<T, HandshakeRefusal>;

// The side that dials.
class ClientHandshake {
 public:
  ClientHandshake(Identity self, const Secret& secret, const Bytes32& nonce,
                  int version = kWireVersion);

  json hello() const;
  // Takes the frame that came after hello() and returns the proof to send. A HandshakeRefusal: send
  // nothing more; the other side refused, has another version, or does not know the secret. Call it
  // once.
  Answer<json> answer(const json& challenge);
  const Secret& key() const { return *key_; }  // of the encryption; only after a good answer()

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
  // `secrets` must outlive it.
  ServerHandshake(const Secrets& secrets, const Bytes32& nonce, int version = kWireVersion);

  // Takes the next frame of the client. Returns the challenge that answers its hello, or an empty
  // object if its proof is good: then done(). A HandshakeRefusal: send it and close.
  Answer<json> hear(const json& message);
  bool done() const { return key_.has_value(); }
  const Identity& peer() const { return peer_; }  // proven only when done()
  const Secret& key() const { return *key_; }     // of the encryption; only when done()

 private:
  Answer<json> challenge(const json& hello);
  Answer<json> check(const json& proof);

  const Secrets& secrets_;
  Bytes32 nonce_;
  int version_;
  Identity peer_;
  std::optional<Secret> secret_;  // of the role in the peer's hello
  std::string said_;              // what the proofs are made over
  std::optional<Secret> key_;
};

}  // namespace attune

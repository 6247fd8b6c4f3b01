#include "wire/handshake.h"

#include <fmt/format.h>

#include <initializer_list>
#include <utility>

#include "base/check.h"

namespace attune {
namespace {

// The purposes. They differ, so that a proof of the server cannot be used as one of the client, and
// neither as the key.
constexpr std::string_view kServerProof = "attune server proof",
                           kClientProof = "attune client proof", kKey = "attune tls key";

// Joins texts, each behind its length in four bytes (big endian). The lengths make it unambiguous:
// no other texts give the same bytes.
std::string joined(std::initializer_list<std::string_view> texts) {
  std::string all;
  for (const std::string_view text : texts) {
    for (int shift = 24; shift >= 0; shift -= 8) all += static_cast<char>(text.size() >> shift);
    all += text;
  }
  return all;
}

std::string_view view_of(const Bytes32& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::string transcript(int version, const Identity& client, const Bytes32& client_nonce,
                       const Bytes32& server_nonce) {
  return joined({std::to_string(version), client.role, client.name, view_of(client_nonce),
                 view_of(server_nonce)});
}

Bytes32 proof_of(const Secret& secret, std::string_view purpose, const std::string& said) {
  return secret.mac(joined({purpose, said}));
}

std::unexpected<HandshakeRefusal> refuse(std::string message, bool final = true) {
  return std::unexpected(HandshakeRefusal{std::move(message), final});
}

json member(const json& message, const char* name) { return message.value(name, json()); }

Result<Bytes32> bytes_at(const json& message, const char* name) {
  const json text = member(message, name);
  if (!text.is_string()) return fail(fmt::format("'{}' must be a text", name));
  auto bytes = parse_hex(text.get_ref<const std::string&>());
  if (!bytes) return fail(fmt::format("'{}': {}", name, bytes.error().message));
  return bytes;
}

// A version for messages: the number, or the type of JSON value that stands there instead.
std::string version_text(const json& version) {
  return version.is_number() ? dump_json(version) : std::string(json_type_name(version));
}

}  // namespace

// ---- the side that dials

ClientHandshake::ClientHandshake(Identity self, const Secret& secret, const Bytes32& nonce,
                                 int version)
    : self_(std::move(self)), secret_(secret), nonce_(nonce), version_(version) {}

json ClientHandshake::hello() const {
  return {{"type", "hello"},
          {"version", version_},
          {"role", self_.role},
          {"name", self_.name},
          {"nonce", to_hex(nonce_)}};
}

Answer<json> ClientHandshake::answer(const json& challenge) {
  ATTUNE_CHECK(!key_);
  const json type = member(challenge, "type");
  if (type == "error") {
    const json why = member(challenge, "message");
    return refuse("refuses: " + (why.is_string() ? why.get<std::string>() : "it does not say why"),
                  member(challenge, "final") == true);
  }
  if (type != "challenge")
    return refuse("answers without a challenge: " + dump_json(challenge).substr(0, 100), false);
  if (member(challenge, "version") != version_)
    return refuse(fmt::format("speaks version {}, not {}",
                              version_text(member(challenge, "version")), version_));
  const auto nonce = bytes_at(challenge, "nonce");
  if (!nonce) return refuse("gives no challenge: " + nonce.error().message);
  const auto proof = bytes_at(challenge, "proof");
  if (!proof) return refuse("gives no challenge: " + proof.error().message);
  const std::string said = transcript(version_, self_, nonce_, *nonce);
  if (!equal_bytes(*proof, proof_of(secret_, kServerProof, said)))
    return refuse(fmt::format(
        "does not know the secret of role {}: it is not the coordinator, or another one",
        self_.role));
  key_ = Secret(proof_of(secret_, kKey, said));
  return json{{"type", "proof"}, {"proof", to_hex(proof_of(secret_, kClientProof, said))}};
}

// ---- the side that listens

ServerHandshake::ServerHandshake(const Secrets& secrets, const Bytes32& nonce, int version)
    : secrets_(secrets), nonce_(nonce), version_(version) {}

Answer<json> ServerHandshake::hear(const json& message) {
  ATTUNE_CHECK(!done());
  return secret_ ? check(message) : challenge(message);
}

Answer<json> ServerHandshake::challenge(const json& hello) {
  if (member(hello, "type") != "hello") return refuse("the first message must be a hello");
  // The version first: in another version all other fields may have other meanings.
  if (member(hello, "version") != version_)
    return refuse(fmt::format("version {} is spoken here, not {}", version_,
                              version_text(member(hello, "version"))));
  for (const char* name : {"role", "name"}) {
    const json text = member(hello, name);
    if (!text.is_string()) return refuse(fmt::format("'{}' must be a text", name));
    if (text.get_ref<const std::string&>().size() > kMostNameBytes)
      return refuse(fmt::format("'{}' has more than {} bytes", name, kMostNameBytes));
  }
  peer_ = {hello["role"], hello["name"]};
  const auto nonce = bytes_at(hello, "nonce");
  if (!nonce) return refuse(nonce.error().message);
  const auto found = secrets_.find(peer_.role);
  if (found == secrets_.end()) return refuse("there is no role " + dump_json(hello["role"]));
  secret_ = found->second;
  said_ = transcript(version_, peer_, *nonce, nonce_);
  return json{{"type", "challenge"},
              {"version", version_},
              {"nonce", to_hex(nonce_)},
              {"proof", to_hex(proof_of(*secret_, kServerProof, said_))}};
}

Answer<json> ServerHandshake::check(const json& message) {
  if (member(message, "type") != "proof") return refuse("the second message must be a proof");
  const auto proof = bytes_at(message, "proof");
  if (!proof) return refuse(proof.error().message);
  if (!equal_bytes(*proof, proof_of(*secret_, kClientProof, said_)))
    return refuse(fmt::format("the secret of role {} is another one", peer_.role));
  key_ = Secret(proof_of(*secret_, kKey, said_));
  return json::object();
}

}  // namespace attune

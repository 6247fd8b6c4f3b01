// Any frames and bytes from somebody without the secret, to both sides of the handshake and of the
// encryption. The first byte says to whom. Nobody is convinced by anything but what an honest side
// would have said: the corpus has that, for the nonces of this target.
#include "wire/handshake.h"

#include <optional>

#include "tests/fuzz/fuzz.h"
#include "wire/tls_session.h"

using namespace attune;

namespace {

const Secrets kSecrets = {{"worker", Secret(Bytes32{1})}, {"client", Secret(Bytes32{2})}};
const Identity kSelf = {"worker", "w"};
constexpr Bytes32 kClientNonce{3}, kServerNonce{4};

std::optional<json> next(JsonFrameDecoder& frames) { return frames.next().value_or(std::nullopt); }

// The key that somebody honest has who said this hello, and heard the answer to it.
Secret honest_key(const json& hello) {
  const Identity self = {hello["role"], hello["name"]};
  const Bytes32 nonce = parse_hex(hello["nonce"].get<std::string>()).value();
  ClientHandshake client(self, kSecrets.at(self.role), nonce);
  ServerHandshake server(kSecrets, kServerNonce);
  const auto proof = client.answer(*server.hear(client.hello()));
  ATTUNE_CHECK(proof && server.hear(*proof) && server.peer() == self);
  return client.key();
}

// Ends or waits, and neither lets anything through.
void to_session(TlsSession session, std::string_view bytes) {
  for (std::size_t at = 0; at < bytes.size(); at += 500) {
    const auto fed = session.feed(bytes.substr(at, 500));
    ATTUNE_CHECK(!session.established() && session.take_plaintext().empty());
    session.take_ciphertext();
    if (fed) continue;
    ATTUNE_CHECK(!session.feed("x"));
    return;
  }
}

void to_server(std::string_view bytes) {
  JsonFrameDecoder frames(kHandshakeLimits);
  frames.feed(bytes);
  ServerHandshake server(kSecrets, kServerNonce);
  const auto hello = next(frames);
  if (!hello) return;
  const auto challenge = server.hear(*hello);
  ATTUNE_CHECK(!server.done());
  if (!challenge) return ATTUNE_CHECK(!challenge.error().message.empty());
  ATTUNE_CHECK((*challenge)["version"] == (*hello)["version"]);
  const auto proof = next(frames);
  if (!proof) return;
  const auto verdict = server.hear(*proof);
  ATTUNE_CHECK(verdict.has_value() == server.done());
  if (!verdict) return;
  ATTUNE_CHECK(server.key() == honest_key(*hello));
  to_session(TlsSession(TlsSession::Side::server, server.key()), frames.take_rest());
}

void to_client(std::string_view bytes) {
  JsonFrameDecoder frames(kHandshakeLimits);
  frames.feed(bytes);
  ClientHandshake client(kSelf, kSecrets.at(kSelf.role), kClientNonce);
  const auto challenge = next(frames);
  if (!challenge) return;
  const auto answer = client.answer(*challenge);
  if (!answer) return ATTUNE_CHECK(!answer.error().message.empty());
  ServerHandshake honest(kSecrets, parse_hex((*challenge)["nonce"].get<std::string>()).value());
  ATTUNE_CHECK((*honest.hear(client.hello()))["proof"] == (*challenge)["proof"]);
  to_session(TlsSession(TlsSession::Side::client, client.key()), frames.take_rest());
}

}  // namespace

FUZZ_TARGET(input) {
  if (input.empty()) return;
  const std::string_view rest = input.substr(1);
  switch (static_cast<unsigned char>(input.front()) % 4) {
    case 0:
      return to_server(rest);
    case 1:
      return to_client(rest);
    case 2:
      return to_session(TlsSession(TlsSession::Side::server, Secret(Bytes32{1})), rest);
    default:
      return to_session(TlsSession(TlsSession::Side::client, Secret(Bytes32{1})), rest);
  }
}

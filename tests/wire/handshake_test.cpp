#include "wire/handshake.h"

#include <catch2/catch.hpp>

namespace attune::handshake_test {

using Catch::Contains;

const Secret kWorker(Bytes32{1}), kClient(Bytes32{2}), kOther(Bytes32{3});
const Secrets kSecrets = {{"worker", kWorker}, {"client", kClient}};
const Identity kSelf = {"worker", "w1"};
constexpr int kVersion = 2;

Bytes32 nonce(std::uint8_t number) {
  Bytes32 bytes{};
  bytes.back() = number;
  return bytes;
}

ClientHandshake client(const Secret& secret = kWorker, const Identity& self = kSelf,
                       std::uint8_t number = 10) {
  return ClientHandshake(self, secret, nonce(number), kVersion);
}
ServerHandshake server(std::uint8_t number = 20, const Secrets& secrets = kSecrets) {
  return ServerHandshake(secrets, nonce(number), kVersion);
}

json changed(json message, const char* key, json value) {
  message[key] = std::move(value);
  return message;
}

// Another digit, a valid one.
json tampered(json message, const char* key) {
  auto& text = message[key].get_ref<std::string&>();
  text[5] = text[5] == '0' ? '1' : '0';
  return message;
}

TEST_CASE("handshake: two sides with one secret agree on who dials and on a key") {
  auto one = client();
  auto other = server();
  const json hello = one.hello();
  CHECK(hello == json{{"type", "hello"},
                      {"version", 2},
                      {"role", "worker"},
                      {"name", "w1"},
                      {"nonce", std::string(62, '0') + "0a"}});
  const auto challenge = other.hear(hello);
  REQUIRE(challenge);
  CHECK(!other.done());
  const auto proof = one.answer(*challenge);
  REQUIRE(proof);
  REQUIRE(other.hear(*proof));
  REQUIRE(other.done());
  CHECK(other.peer() == kSelf);
  CHECK(one.key() == other.key());
  CHECK(!(one.key() == kWorker));
  // Nothing that was said has the secret or the key in it.
  for (const json& said : {hello, *challenge, *proof}) {
    CHECK(said.dump().find(kWorker.hex()) == std::string::npos);
    CHECK(said.dump().find(one.key().hex()) == std::string::npos);
  }
  // Nor is one proof like another one.
  CHECK((*challenge)["proof"] != (*proof)["proof"]);
}

TEST_CASE("handshake: each key is another one") {
  const auto key = [](std::uint8_t here, std::uint8_t there, const Identity& self) {
    auto one = client(kWorker, self, here);
    auto other = server(there);
    REQUIRE(other.hear(*one.answer(*other.hear(one.hello()))));
    return other.key();
  };
  const Secret first = key(10, 20, kSelf);
  CHECK(first == key(10, 20, kSelf));
  CHECK(!(first == key(11, 20, kSelf)));
  CHECK(!(first == key(10, 21, kSelf)));
  CHECK(!(first == key(10, 20, {"worker", "w2"})));
}

TEST_CASE("handshake: who listens without the secret learns nothing and is told apart") {
  auto one = client();
  // It knows everything but the secret of this role.
  const Secrets others = {{"worker", kOther}};
  auto impostor = server(20, others);
  const auto challenge = impostor.hear(one.hello());
  REQUIRE(challenge);
  const auto answer = one.answer(*challenge);
  REQUIRE(!answer);
  CHECK(answer.error().final);
  CHECK_THAT(answer.error().message, Contains("does not know the secret of role worker"));
}

TEST_CASE("handshake: who dials without the secret cannot prove anything") {
  auto other = server();
  auto impostor = client(kOther);
  const auto challenge = other.hear(impostor.hello());
  REQUIRE(!impostor.answer(*challenge));
  const json proof = {{"type", "proof"},
                      {"proof", GENERATE_COPY(as<json>{},
                                              (*challenge)["proof"],            // reflected
                                              to_hex(kOther.mac("something")),  // invented
                                              (*challenge)["nonce"], to_hex(Bytes32{}))}};
  const auto verdict = other.hear(proof);
  REQUIRE(!verdict);
  CHECK(verdict.error().final);
  CHECK(verdict.error().message == "the secret of role worker is another one");
  CHECK(!other.done());
}

TEST_CASE("handshake: a challenge that was reflected or made for another one is no proof") {
  auto one = client(), parallel = client(kWorker, kSelf, 11);
  const json own = *server().hear(parallel.hello());
  const json bad = GENERATE_COPY(
      as<json>{}, own,
      // The client's own nonce and a proof that it has made: with another label.
      changed(own, "proof", (*client(kWorker, kSelf, 11).answer(own))["proof"]),
      changed(own, "nonce", to_hex(nonce(10))), changed(own, "nonce", to_hex(nonce(21))));
  const auto answer = one.answer(bad);
  REQUIRE(!answer);
  CHECK_THAT(answer.error().message, Contains("does not know the secret"));
}

TEST_CASE("handshake: what was said once is of no use the next time") {
  auto one = client();
  auto other = server();
  const json hello = one.hello();
  const json proof = *one.answer(*other.hear(hello));
  auto next = server(21);
  REQUIRE(next.hear(hello));
  CHECK(!next.hear(proof));
}

TEST_CASE("handshake: what is changed on the way makes it fail") {
  auto one = client();
  auto other = server();
  const int what = GENERATE(range(0, 6));
  json hello = one.hello();
  if (what == 0) hello["name"] = "w2";
  if (what == 1) hello = tampered(hello, "nonce");
  auto challenge = other.hear(hello);
  REQUIRE(challenge);
  if (what == 2) *challenge = tampered(*challenge, "nonce");
  if (what == 3) *challenge = tampered(*challenge, "proof");
  const auto proof = one.answer(*challenge);
  CHECK(proof.has_value() == (what > 3));
  if (!proof) return;
  const auto verdict = other.hear(what == 4 ? tampered(*proof, "proof") : *proof);
  CHECK(verdict.has_value() == (what == 5));
}

TEST_CASE("handshake: each role has its own secret") {
  // A worker's secret does not make a client, whatever either side is told.
  auto one = client(kWorker, {"client", "c"});
  CHECK(!one.answer(*server().hear(one.hello())));
  auto worker = client();
  auto other = server();
  const auto challenge = other.hear(changed(worker.hello(), "role", "client"));
  REQUIRE(challenge);
  CHECK(!worker.answer(*challenge));
  auto king = client(kOther, {"king", "k"});
  const auto verdict = server().hear(king.hello());
  REQUIRE(!verdict);
  CHECK(verdict.error().message == "there is no role \"king\"");
  CHECK(verdict.error().final);
}

// "ab" + "c" is not "a" + "bc".
TEST_CASE("handshake: role and name do not flow into each other") {
  const Secrets same = {{"ab", kOther}, {"a", kOther}};
  auto one = client(kOther, {"ab", "c"});
  auto other = server(20, same);
  auto challenge = other.hear(changed(changed(one.hello(), "role", "a"), "name", "bc"));
  REQUIRE(challenge);
  CHECK(!one.answer(*challenge));
}

TEST_CASE("handshake: another version is an error that names both") {
  auto other = server();
  // As a worker of version 1 says it.
  const auto old = other.hear({{"type", "hello"},
                               {"version", 1},
                               {"token", "0123456789abcdef0123456789abcdef"},
                               {"role", "worker"},
                               {"worker", "w1"}});
  REQUIRE(!old);
  CHECK(old.error().message == "version 2 is spoken here, not 1");
  CHECK(old.error().final);

  // As a coordinator of version 1 answers.
  auto one = client();
  const auto answer = one.answer(
      {{"type", "error"}, {"message", "version 1 is spoken here, not 2"}, {"final", true}});
  REQUIRE(!answer);
  CHECK(answer.error().message == "refuses: version 1 is spoken here, not 2");
  CHECK(answer.error().final);

  auto early = client();
  const auto later = early.answer(changed(*other.hear(early.hello()), "version", 3));
  REQUIRE(!later);
  CHECK(later.error().message == "speaks version 3, not 2");
  CHECK(later.error().final);
}

TEST_CASE("handshake: a hello that is none is refused") {
  const auto [key, value, reason] = GENERATE(table<std::string, json, std::string>({
      {"type", "push", "the first message must be a hello"},
      {"type", nullptr, "the first message must be a hello"},
      {"version", "2", "version 2 is spoken here, not a string"},
      {"version", nullptr, "version 2 is spoken here, not null"},
      {"version", 2.5, "not 2.5"},
      {"role", 7, "'role' must be a text"},
      {"role", std::string(300, 'x'), "'role' has more than 256 bytes"},
      {"name", nullptr, "'name' must be a text"},
      {"name", std::string(300, 'x'), "'name' has more than 256 bytes"},
      {"nonce", 7, "'nonce' must be a text"},
      {"nonce", "", "'nonce': 64 hexadecimal digits are expected"},
      {"nonce", std::string(62, '0'), "not 62 characters"},
      {"nonce", std::string(66, '0'), "not 66 characters"},
      {"nonce", std::string(64, 'x'), "none of 0-9 and a-f"},
  }));
  auto other = server();
  const auto verdict = other.hear(changed(client().hello(), key.c_str(), value));
  REQUIRE(!verdict);
  CHECK_THAT(verdict.error().message, Contains(reason));
  CHECK(!other.done());
}

TEST_CASE("handshake: a challenge that is none ends it") {
  const auto [key, value, reason] = GENERATE(table<std::string, json, std::string>({
      {"type", "welcome", "answers without a challenge: {\"type\":\"welcome\""},
      {"version", nullptr, "speaks version null, not 2"},
      {"nonce", nullptr, "gives no challenge: 'nonce' must be a text"},
      {"nonce", std::string(62, '0'), "gives no challenge: 'nonce': 64 hexadecimal digits"},
      {"proof", 1, "gives no challenge: 'proof' must be a text"},
      {"proof", "00", "gives no challenge: 'proof': 64 hexadecimal digits"},
  }));
  auto one = client();
  const auto answer = one.answer(changed(*server().hear(one.hello()), key.c_str(), value));
  REQUIRE(!answer);
  CHECK_THAT(answer.error().message, Contains(reason));
}

TEST_CASE("handshake: a second message that is no proof is refused") {
  auto other = server();
  const json hello = client().hello();
  REQUIRE(other.hear(hello));
  const auto [message, reason] = GENERATE_COPY(table<json, std::string>({
      {hello, "the second message must be a proof"},
      {json::object(), "the second message must be a proof"},
      {{{"type", "proof"}}, "'proof' must be a text"},
      {{{"type", "proof"}, {"proof", "ff"}}, "64 hexadecimal digits"},
  }));
  const auto verdict = other.hear(message);
  REQUIRE(!verdict);
  CHECK_THAT(verdict.error().message, Contains(reason));
}

}  // namespace attune::handshake_test

#include "wire/tls_session.h"

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>

#include <catch2/catch.hpp>
#include <memory>
#include <tuple>

#include "base/rng.h"

namespace attune::tls_session_test {

using Catch::Contains;

using enum TlsSession::Side;

struct Pair {
  explicit Pair(const Secret& other = Secret(Bytes32{7}))
      : here(client, Secret(Bytes32{7})), there(server, other) {}
  // Until neither has anything to say.
  void talk() {
    while (true) {
      const std::string out = here.take_ciphertext(), back = there.take_ciphertext();
      if (out.empty() && back.empty()) return;
      if (auto fed = there.feed(out); !fed) errors.push_back(fed.error().message);
      if (auto fed = here.feed(back); !fed) errors.push_back(fed.error().message);
    }
  }

  TlsSession here, there;
  std::vector<std::string> errors;
};

TEST_CASE("tls: what one side writes the other one reads and nobody else") {
  Pair pair;
  pair.talk();
  REQUIRE(pair.errors.empty());
  REQUIRE(pair.here.established());
  REQUIRE(pair.there.established());
  const std::string text(100'000, 'x');
  REQUIRE(pair.here.write(text));
  const std::string ciphertext = pair.here.take_ciphertext();
  CHECK(ciphertext.size() > text.size());
  CHECK(ciphertext.find("xxxx") == std::string::npos);
  REQUIRE(pair.there.feed(ciphertext));
  CHECK(pair.there.take_plaintext() == text);
  REQUIRE(pair.there.write("back"));
  REQUIRE(pair.here.feed(pair.there.take_ciphertext()));
  CHECK(pair.here.take_plaintext() == "back");
}

TEST_CASE("tls: bytes may come one at a time") {
  Pair pair;
  while (!pair.here.established() || !pair.there.established()) {
    for (const char byte : pair.here.take_ciphertext()) REQUIRE(pair.there.feed({&byte, 1}));
    for (const char byte : pair.there.take_ciphertext()) REQUIRE(pair.here.feed({&byte, 1}));
  }
  REQUIRE(pair.here.write("one"));
  for (const char byte : pair.here.take_ciphertext()) REQUIRE(pair.there.feed({&byte, 1}));
  CHECK(pair.there.take_plaintext() == "one");
}

TEST_CASE("tls: another key is noticed by both and nothing is established") {
  Pair pair(Secret(Bytes32{8}));
  pair.talk();
  CHECK(pair.errors.size() >= 2);
  CHECK(!pair.here.established());
  CHECK(!pair.there.established());
  CHECK(!pair.here.write("x"));
}

TEST_CASE("tls: a byte that is changed ends it and what came before stays") {
  Pair pair;
  pair.talk();
  REQUIRE(pair.here.write("before"));
  REQUIRE(pair.there.feed(pair.here.take_ciphertext()));
  REQUIRE(pair.here.write("changed"));
  std::string record = pair.here.take_ciphertext();
  record[GENERATE(range(0, 29))] ^= 1;
  const auto fed = pair.there.feed(record);
  CHECK(pair.there.take_plaintext() == "before");
  if (fed) {  // the length was changed: it waits for more, which does not help
    REQUIRE(pair.here.write(std::string(70'000, 'x')));
    CHECK_THAT(pair.there.feed(pair.here.take_ciphertext()).error().message,
               Contains("the encryption fails: "));
  } else {
    CHECK_THAT(fed.error().message, Contains("the encryption fails: "));
  }
  CHECK(pair.there.take_plaintext().empty());
  CHECK(!pair.there.feed("x"));
  CHECK(!pair.there.write("x"));
}

TEST_CASE("tls: a record that is left away or said twice ends it") {
  Pair pair;
  pair.talk();
  REQUIRE(pair.here.write("one"));
  const std::string one = pair.here.take_ciphertext();
  REQUIRE(pair.here.write("two"));
  const std::string two = pair.here.take_ciphertext();
  if (GENERATE(true, false)) {
    CHECK(!pair.there.feed(two));
  } else {
    REQUIRE(pair.there.feed(one));
    CHECK(!pair.there.feed(one));
  }
}

TEST_CASE("tls: an end is told from a stream that was cut") {
  Pair pair;
  pair.talk();
  REQUIRE(pair.here.write("last"));
  const std::string text = pair.here.take_ciphertext();
  pair.here.finish();
  const std::string end = pair.here.take_ciphertext();
  REQUIRE(pair.there.feed(text));
  CHECK(!pair.there.finished());
  REQUIRE(pair.there.feed(end + "what follows does not count"));
  CHECK(pair.there.finished());
  CHECK(pair.there.take_plaintext() == "last");
  CHECK(pair.there.take_plaintext().empty());
}

TEST_CASE("tls: frames that are not encrypted are no TLS") {
  TlsSession session(GENERATE(client, server), Secret(Bytes32{7}));
  CHECK_THAT(session.feed(std::string("\0\0\0\x10{\"type\":\"error\"}", 20)).error().message,
             Contains("the encryption fails: "));
}

TEST_CASE("tls: any bytes are an error or wait for more") {
  Rng rng(GENERATE(range(0, 50)));
  TlsSession session(rng.index(2) == 0 ? client : server, Secret(Bytes32{7}));
  std::string bytes = "\x16\x03\x03";
  for (std::size_t i = rng.index(2000); i > 0; --i) bytes += static_cast<char>(rng.index(256));
  std::ignore = session.feed(bytes);
  CHECK(!session.established());
  CHECK(session.take_plaintext().empty());
}

// Whoever stands between the two has no key, but may have a certificate.
TEST_CASE("tls: a server that shows a certificate in place of the key is refused") {
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(EVP_EC_gen("P-256"), EVP_PKEY_free);
  const std::unique_ptr<X509, decltype(&X509_free)> certificate(X509_new(), X509_free);
  X509_gmtime_adj(X509_getm_notBefore(certificate.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(certificate.get()), 3600);
  REQUIRE(X509_set_pubkey(certificate.get(), key.get()) == 1);
  REQUIRE(X509_sign(certificate.get(), key.get(), EVP_sha256()) > 0);
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(SSL_CTX_new(TLS_server_method()),
                                                                  SSL_CTX_free);
  REQUIRE(SSL_CTX_use_certificate(context.get(), certificate.get()) == 1);
  REQUIRE(SSL_CTX_use_PrivateKey(context.get(), key.get()) == 1);
  const std::unique_ptr<SSL, decltype(&SSL_free)> impostor(SSL_new(context.get()), SSL_free);
  BIO* in = BIO_new(BIO_s_mem());
  BIO* out = BIO_new(BIO_s_mem());
  SSL_set_bio(impostor.get(), in, out);
  SSL_set_accept_state(impostor.get());

  TlsSession session(client, Secret(Bytes32{7}));
  const std::string hello = session.take_ciphertext();
  BIO_write(in, hello.data(), static_cast<int>(hello.size()));
  SSL_do_handshake(impostor.get());
  char* bytes = nullptr;
  const auto size = static_cast<std::size_t>(BIO_get_mem_data(out, &bytes));
  REQUIRE(size > 500);  // it has shown its certificate
  CHECK_THAT(session.feed({bytes, size}).error().message, Contains("certificate verify failed"));
  CHECK(!session.established());
}

}  // namespace attune::tls_session_test

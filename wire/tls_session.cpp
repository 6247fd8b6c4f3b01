#include "wire/tls_session.h"

#include <fmt/format.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <climits>
#include <cstring>
#include <optional>
#include <utility>

#include "base/check.h"

namespace attune {
namespace {

template <auto Free>
struct Freed {
  template <class T>
  void operator()(T* what) const {
    Free(what);
  }
};
using Context = std::unique_ptr<SSL_CTX, Freed<SSL_CTX_free>>;
using Ssl = std::unique_ptr<SSL, Freed<SSL_free>>;
using Session = std::unique_ptr<SSL_SESSION, Freed<SSL_SESSION_free>>;

// The name of the key in the TLS handshake. Any would do: both sides know which key they share.
constexpr std::string_view kKeyName = "attune";
// Both use SHA-256, the hash to which a key of 32 bytes belongs.
constexpr char kCiphers[] = "TLS_AES_128_GCM_SHA256:TLS_CHACHA20_POLY1305_SHA256";
// RFC 8446, B.4.
constexpr unsigned char kAes128GcmSha256[] = {0x13, 0x01};
constexpr std::size_t kPiece = std::size_t{16} << 10;  // a record

std::string last_error() {
  const unsigned long code = ::ERR_peek_last_error();
  ::ERR_clear_error();
  const char* reason = code == 0 ? nullptr : ::ERR_reason_error_string(code);
  return reason == nullptr ? "unknown" : reason;
}

// The key in the form in which OpenSSL takes an external key: as a session that both sides have
// kept.
Session session_of(SSL* ssl, const Secret& key) {
  Session session(::SSL_SESSION_new());
  const SSL_CIPHER* cipher = ::SSL_CIPHER_find(ssl, kAes128GcmSha256);
  const bool made =
      session && cipher != nullptr &&
      ::SSL_SESSION_set1_master_key(session.get(), key.bytes().data(), key.bytes().size()) == 1 &&
      ::SSL_SESSION_set_cipher(session.get(), cipher) == 1 &&
      ::SSL_SESSION_set_protocol_version(session.get(), TLS1_3_VERSION) == 1;
  if (!made) session.reset();
  return session;
}

const Secret& key_of(SSL* ssl) { return *static_cast<const Secret*>(SSL_get_app_data(ssl)); }

int use_key(SSL* ssl, const EVP_MD* hash, const unsigned char** id, std::size_t* id_size,
            SSL_SESSION** session) {
  *session = nullptr;
  *id = reinterpret_cast<const unsigned char*>(kKeyName.data());
  *id_size = kKeyName.size();
  // OpenSSL calls this again if the server wants another group; then the hash is settled.
  if (hash != nullptr && ::EVP_MD_is_a(hash, "SHA256") != 1) return 1;
  *session = session_of(ssl, key_of(ssl)).release();
  return *session == nullptr ? 0 : 1;
}

int find_key(SSL* ssl, const unsigned char* id, std::size_t id_size, SSL_SESSION** session) {
  *session = nullptr;
  const bool known =
      id_size == kKeyName.size() && std::memcmp(id, kKeyName.data(), kKeyName.size()) == 0;
  if (known) *session = session_of(ssl, key_of(ssl)).release();
  return 1;
}

}  // namespace

struct TlsSession::Impl {
  Impl(Side side, const Secret& with) : key(with) {
    context.reset(::SSL_CTX_new(::TLS_method()));
    ATTUNE_CHECK(context);
    SSL_CTX* c = context.get();
    // A server that shows a certificate in place of the key is refused: no authority is trusted. A
    // server of ours has none, and so nothing to offer to a client without the key.
    if (side == Side::client) ::SSL_CTX_set_verify(c, SSL_VERIFY_PEER, nullptr);
    ::SSL_CTX_set_options(c, SSL_OP_NO_TICKET | SSL_OP_NO_RENEGOTIATION);
    ::SSL_CTX_set_session_cache_mode(c, SSL_SESS_CACHE_OFF);
    const bool configured = ::SSL_CTX_set_min_proto_version(c, TLS1_3_VERSION) == 1 &&
                            ::SSL_CTX_set_max_proto_version(c, TLS1_3_VERSION) == 1 &&
                            ::SSL_CTX_set_ciphersuites(c, kCiphers) == 1 &&
                            ::SSL_CTX_set_num_tickets(c, 0) == 1;
    ssl.reset(::SSL_new(c));
    in = ::BIO_new(::BIO_s_mem());
    out = ::BIO_new(::BIO_s_mem());
    ATTUNE_CHECK(configured && ssl && in != nullptr && out != nullptr);
    // An empty buffer means that more bytes may come, not that the stream has ended.
    BIO_set_mem_eof_return(in, -1);
    BIO_set_mem_eof_return(out, -1);
    ::SSL_set_bio(ssl.get(), in, out);  // owns both
    SSL_set_app_data(ssl.get(), &key);
    if (side == Side::client) {
      ::SSL_set_psk_use_session_callback(ssl.get(), use_key);
      ::SSL_set_connect_state(ssl.get());
      advance();
    } else {
      ::SSL_set_psk_find_session_callback(ssl.get(), find_key);
      ::SSL_set_accept_state(ssl.get());
    }
  }

  bool established() const { return !broken && ::SSL_is_init_finished(ssl.get()) == 1; }

  // Continues the TLS handshake, then decrypts, as far as the received bytes suffice.
  void advance() {
    ::ERR_clear_error();
    if (::SSL_is_init_finished(ssl.get()) != 1) {
      const int done = ::SSL_do_handshake(ssl.get());
      if (done != 1) return judge(done);
      if (::SSL_session_reused(ssl.get()) != 1) return fail_with("the key was not used");
    }
    char piece[kPiece];
    while (!finished && !broken) {
      std::size_t size = 0;
      const int read = ::SSL_read_ex(ssl.get(), piece, sizeof piece, &size);
      if (read != 1) return judge(read);
      plaintext.append(piece, size);
    }
  }
  void judge(int result) {
    switch (::SSL_get_error(ssl.get(), result)) {
      case SSL_ERROR_WANT_READ:
        return;
      case SSL_ERROR_ZERO_RETURN:
        finished = true;
        return;
      default:
        fail_with(last_error());
    }
  }
  // Takes OpenSSL's output. Called after each record, because OpenSSL's buffer is slow when it
  // grows.
  void collect() {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(out, &bytes);
    if (size > 0) ciphertext.append(bytes, static_cast<std::size_t>(size));
    BIO_reset(out);
  }
  void fail_with(const std::string& what) {
    if (!broken) broken = Error{"the encryption fails: " + what};
  }

  const Secret key;
  Context context;
  Ssl ssl;
  BIO* in = nullptr;
  BIO* out = nullptr;
  std::string plaintext, ciphertext;
  bool finished = false;
  std::optional<Error> broken;
};

TlsSession::TlsSession(Side side, const Secret& key) : impl_(std::make_unique<Impl>(side, key)) {}
TlsSession::TlsSession(TlsSession&&) noexcept = default;
TlsSession& TlsSession::operator=(TlsSession&&) noexcept = default;
TlsSession::~TlsSession() = default;

Result<void> TlsSession::feed(std::string_view ciphertext) {
  // In pieces, so that what was taken from one is gone before the next one comes.
  while (!ciphertext.empty() && !impl_->broken && !impl_->finished) {
    const std::string_view piece = ciphertext.substr(0, kPiece);
    ciphertext.remove_prefix(piece.size());
    const int taken = ::BIO_write(impl_->in, piece.data(), static_cast<int>(piece.size()));
    ATTUNE_CHECK(taken == static_cast<int>(piece.size()));
    impl_->advance();
  }
  if (impl_->broken) return std::unexpected(*impl_->broken);
  return {};
}

std::string TlsSession::take_plaintext() { return std::exchange(impl_->plaintext, {}); }
bool TlsSession::established() const { return impl_->established(); }
bool TlsSession::finished() const { return impl_->finished; }

Result<void> TlsSession::write(std::string_view plaintext) {
  ATTUNE_CHECK(impl_->broken || impl_->established());
  while (!plaintext.empty() && !impl_->broken) {
    ::ERR_clear_error();
    const std::string_view piece = plaintext.substr(0, kPiece);
    std::size_t written = 0;
    if (::SSL_write_ex(impl_->ssl.get(), piece.data(), piece.size(), &written) != 1)
      impl_->fail_with(last_error());
    plaintext.remove_prefix(written);
    impl_->collect();
  }
  if (impl_->broken) return std::unexpected(*impl_->broken);
  return {};
}

void TlsSession::finish() {
  if (!established()) return;
  ::ERR_clear_error();
  ::SSL_shutdown(impl_->ssl.get());
}

std::string TlsSession::take_ciphertext() {
  impl_->collect();
  return std::exchange(impl_->ciphertext, {});
}

}  // namespace attune

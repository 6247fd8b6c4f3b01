#pragma once
// TLS 1.3 (RFC 8446) between two sides that share a key. A state machine: bytes in, bytes out, no
// I/O.
//
// The key is an external pre-shared key in the mode psk_dhe_ke; there are no certificates, no
// tickets and no early data. A side without the key cannot finish the handshake. The session keys
// are fresh, so somebody who learns the key later cannot read recorded traffic.
//
// One thread at a time.
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "wire/secret.h"

namespace attune {

class TlsSession {
 public:
  enum class Side { client, server };

  // `key` must be used for this connection only; the handshake makes it (handshake.h).
  TlsSession(Side side, const Secret& key);
  TlsSession(TlsSession&&) noexcept;
  TlsSession& operator=(TlsSession&&) noexcept;
  ~TlsSession();

  // Takes received bytes, in pieces of any size. Error: they are no TLS, were changed on the way,
  // or come from somebody without the key. Errors are permanent. Plaintext from before an error can
  // still be taken.
  Result<void> feed(std::string_view ciphertext);
  // Removes and returns the decrypted bytes, in order.
  std::string take_plaintext();

  // The TLS handshake is complete: the other side has the key. write() must wait for this.
  bool established() const;
  // Encrypts. Adds 22 bytes for each started 16 KiB.
  Result<void> write(std::string_view plaintext);
  // Sends close_notify, so that the other side can tell an orderly end from a cut connection.
  // Nothing may be written after it.
  void finish();
  // The other side has sent close_notify. Bytes behind it are ignored.
  bool finished() const;

  // Removes and returns the bytes to send. Also during the TLS handshake, and after an error (its
  // alert).
  std::string take_ciphertext();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune

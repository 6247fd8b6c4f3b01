#pragma once
// TLS 1.3 (RFC 8446) between two sides that share a key, as a machine: bytes in, bytes out, no I/O.
// There are no certificates: a side that does not have the key cannot finish the handshake, nor
// read or change anything after it, and each session has keys of its own (psk_dhe_ke). No tickets,
// no early data.
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

  // `key`: of this one connection (handshake.h).
  TlsSession(Side side, const Secret& key);
  TlsSession(TlsSession&&) noexcept;
  TlsSession& operator=(TlsSession&&) noexcept;
  ~TlsSession();

  // What came over the network, in pieces of any size. An error, which stays: it is no TLS, was
  // changed on the way, or is of somebody who does not have the key. What was read before it is
  // still there.
  Result<void> feed(std::string_view ciphertext);
  // What the other side has written, in its order; the caller takes it.
  std::string take_plaintext();

  // The handshake is through: the other side has the key. Only then may be written.
  bool established() const;
  // Encrypts. 22 bytes more for each 16 KiB or part of it.
  Result<void> write(std::string_view plaintext);
  // Nothing is written behind this: the other side can tell an end from a cut connection.
  void finish();
  // The other side has said so. What came behind it does not count.
  bool finished() const;

  // What is to go over the network: also of the handshake, and after an error.
  std::string take_ciphertext();

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace attune

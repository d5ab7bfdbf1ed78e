// Sha256 computes the SHA-256 of bytes that come in parts.
#pragma once

#include <openssl/types.h>

#include <memory>
#include <string>
#include <string_view>

namespace meshwright::server {

class Sha256 {
 public:
  Sha256();

  void Add(std::string_view part);
  // Returns the hash of all parts, in hexadecimal. Nothing can be added after that.
  std::string Hex();

 private:
  struct Free {
    void operator()(EVP_MD_CTX* context) const;
  };
  std::unique_ptr<EVP_MD_CTX, Free> context_;
};

}  // namespace meshwright::server

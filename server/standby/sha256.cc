#include "server/standby/sha256.h"

#include <openssl/evp.h>

#include <array>

#include "absl/strings/escaping.h"
#include "absl/strings/string_view.h"

namespace meshwright::server {

void Sha256::Free::operator()(EVP_MD_CTX* context) const { EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(EVP_MD_CTX_new()) {
  EVP_DigestInit_ex(context_.get(), EVP_sha256(), /*impl=*/nullptr);
}

void Sha256::Add(std::string_view part) {
  EVP_DigestUpdate(context_.get(), part.data(), part.size());
}

std::string Sha256::Hex() {
  std::array<unsigned char, EVP_MAX_MD_SIZE> hash{};
  unsigned int size = 0;
  EVP_DigestFinal_ex(context_.get(), hash.data(), &size);
  return absl::BytesToHexString(
      absl::string_view(reinterpret_cast<const char*>(hash.data()), size));
}

}  // namespace meshwright::server

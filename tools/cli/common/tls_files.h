// Reads files of certificates, keys and tokens and checks them before use, so that the message
// names a wrong file; otherwise the connection would fail for a reason that only the other end
// knows.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright::cli {

// A certificate followed by its issuers', and its private key, in PEM.
struct TlsIdentity {
  std::string certificate;
  std::string key;
};

// Returns the text of a file with at least one certificate in PEM. InvalidArgument about `flag`.
absl::StatusOr<std::string> ReadCertificates(std::string_view flag, const std::string& path);

// Reads the files of --tls-cert and --tls-key. InvalidArgument where one is missing, the
// certificate has expired or is not valid yet, the key does not match, or others may read it.
absl::StatusOr<TlsIdentity> ReadIdentity(const std::string& certificate_path,
                                         const std::string& key_path);

// Returns the token in a file that only its owner may read. InvalidArgument about `flag`.
absl::StatusOr<std::string> ReadTokenFile(std::string_view flag, const std::string& path);

// Returns `text` without surrounding space. InvalidArgument about `flag`, which does not repeat the
// text, where it has not the form of a token.
absl::StatusOr<std::string> CheckToken(std::string_view flag, std::string_view text);

}  // namespace meshwright::cli

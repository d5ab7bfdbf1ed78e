// Files of certificates, keys and tokens, checked before anything is done with them, so that a
// wrong one is named and no connection fails for a reason that its other end alone knows.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright::cli {

// A certificate with those of its issuers behind it, and its private key, in PEM.
struct TlsIdentity {
  std::string certificate;
  std::string key;
};

// The text of a file that holds one certificate in PEM or more. InvalidArgument about `flag`.
absl::StatusOr<std::string> ReadCertificates(std::string_view flag, const std::string& path);

// Both files of --tls-cert and --tls-key. InvalidArgument where one is missing, the certificate has
// expired or is not valid yet, the key is another one's, or others may read it.
absl::StatusOr<TlsIdentity> ReadIdentity(const std::string& certificate_path,
                                         const std::string& key_path);

// The token in a file of its own, which its owner alone may read. InvalidArgument about `flag`.
absl::StatusOr<std::string> ReadTokenFile(std::string_view flag, const std::string& path);

// `text` without space around it. InvalidArgument about `flag`, which does not repeat the text,
// where it has not the form of a token.
absl::StatusOr<std::string> CheckToken(std::string_view flag, std::string_view text);

}  // namespace meshwright::cli

// These functions read files of certificates, keys and tokens and check them before use, so that an
// error names the wrong file. Without these checks, the connection would fail for a reason that
// only the other end knows.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace meshwright::cli {

// A certificate, followed by its issuers' certificates, and its private key, all in PEM.
struct TlsIdentity {
  std::string certificate;
  std::string key;
};

// Returns the text of the file. Returns InvalidArgument, which names `flag`, if the file can't be
// read or holds no certificate in PEM.
absl::StatusOr<std::string> ReadCertificates(std::string_view flag, const std::string& path);

// Reads the files of --tls-cert and --tls-key. Returns InvalidArgument if one is missing, the
// certificate has expired or is not valid yet, the key does not match it, or everybody on this
// machine may read or write the key.
absl::StatusOr<TlsIdentity> ReadIdentity(const std::string& certificate_path,
                                         const std::string& key_path);

// Returns the token in the file. Returns InvalidArgument, which names `flag`, if the file holds no
// token, or if anybody but its owner may read or write it.
absl::StatusOr<std::string> ReadTokenFile(std::string_view flag, const std::string& path);

// Returns the token `text` without surrounding space. Returns InvalidArgument, which names `flag`
// and does not repeat the text, if the text does not have the form of a token.
absl::StatusOr<std::string> CheckToken(std::string_view flag, std::string_view text);

}  // namespace meshwright::cli

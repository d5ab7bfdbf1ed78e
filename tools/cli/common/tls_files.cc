#include "tools/cli/common/tls_files.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <sys/stat.h>

#include <memory>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/text/field_error.h"
#include "base/text/status_macros.h"
#include "base/text/string_view.h"
#include "db/token.h"
#include "server/calls/certificate_dates.h"
#include "tools/cli/io/whole_file.h"

namespace meshwright::cli {
namespace {

constexpr uintmax_t kMaxPemBytes = 1 << 20;
constexpr uintmax_t kMaxTokenBytes = 1 << 10;
constexpr mode_t kGroup = S_IRWXG;
constexpr mode_t kOthers = S_IRWXO;

struct FreeOpenSsl {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};
template <typename T>
using Owned = std::unique_ptr<T, FreeOpenSsl>;

Owned<BIO> ReaderOf(const std::string& text) {
  return Owned<BIO>(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

// A service can't start with a key that needs a pass phrase.
int NoPassPhrase(char*, int, int, void*) { return 0; }

// Returns the first certificate; nullptr if there is none.
Owned<X509> FirstCertificate(const std::string& pem) {
  Owned<X509> certificate(PEM_read_bio_X509(ReaderOf(pem).get(), nullptr, NoPassPhrase, nullptr));
  ERR_clear_error();
  return certificate;
}

Owned<EVP_PKEY> KeyIn(const std::string& pem) {
  Owned<EVP_PKEY> key(PEM_read_bio_PrivateKey(ReaderOf(pem).get(), nullptr, NoPassPhrase, nullptr));
  ERR_clear_error();
  return key;
}

std::string DateOf(absl::Time time) {
  return absl::FormatTime("%Y-%m-%d %H:%M UTC", time, absl::UTCTimeZone());
}

absl::Status CheckDates(const std::string& path, const server::CertificateDates& dates) {
  const absl::Time now = absl::Now();
  if (dates.end < now) {
    return FieldError("tls_cert", path,
                      absl::StrCat("expired on ", DateOf(dates.end), ": make another one"));
  }
  if (now < dates.begin) {
    return FieldError("tls_cert", path,
                      absl::StrCat("is not valid before ", DateOf(dates.begin),
                                   "; the time here is ", DateOf(now)));
  }
  return absl::OkStatus();
}

// OK if nobody in `kept_out` may read or write the file.
absl::Status CheckMode(std::string_view flag, const std::string& path, mode_t kept_out) {
  struct stat file = {};
  if (stat(path.c_str(), &file) != 0 || (file.st_mode & kept_out) == 0) return absl::OkStatus();
  const bool owner_only = (kept_out & kGroup) != 0;
  return FieldError(
      flag, path,
      absl::StrFormat("has the mode %04o, so that %s: chmod %s it", file.st_mode & 07777,
                      owner_only ? "others than its owner may read or write it"
                                 : "everybody on this machine may read or write it",
                      owner_only ? "600" : "o="));
}

}  // namespace

absl::StatusOr<std::string> ReadCertificates(std::string_view flag, const std::string& path) {
  ASSIGN_OR_RETURN(std::string pem, ReadWholeFile(flag, path, kMaxPemBytes));
  if (FirstCertificate(pem) == nullptr) {
    return FieldError(flag, path, "must hold a certificate in PEM (-----BEGIN CERTIFICATE-----)");
  }
  return pem;
}

absl::StatusOr<TlsIdentity> ReadIdentity(const std::string& certificate_path,
                                         const std::string& key_path) {
  if (key_path.empty()) return FieldError("tls_cert", certificate_path, "needs its --tls-key");
  if (certificate_path.empty()) return FieldError("tls_key", key_path, "needs its --tls-cert");
  TlsIdentity identity;
  ASSIGN_OR_RETURN(identity.certificate, ReadCertificates("tls_cert", certificate_path));
  const Owned<X509> certificate = FirstCertificate(identity.certificate);
  const auto dates = server::DatesOfCertificate(identity.certificate);
  if (dates) RETURN_IF_ERROR(CheckDates(certificate_path, *dates));
  ASSIGN_OR_RETURN(identity.key, ReadWholeFile("tls_key", key_path, kMaxPemBytes));
  RETURN_IF_ERROR(CheckMode("tls_key", key_path, kOthers));
  const Owned<EVP_PKEY> key = KeyIn(identity.key);
  if (key == nullptr) {
    return FieldError("tls_key", key_path, "must hold a private key in PEM, without a pass phrase");
  }
  const bool fits = X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  if (fits) return identity;
  return FieldError("tls_key", key_path,
                    absl::StrCat("is not the key of the certificate ", certificate_path));
}

absl::StatusOr<std::string> CheckToken(std::string_view flag, std::string_view text) {
  std::string token(absl::StripAsciiWhitespace(AbslView(text)));
  if (db::LooksLikeToken(token)) return token;
  return FieldError(flag, absl::StrCat("(", token.size(), " characters)"),
                    "must be a token as `meshwright token create` prints it: mwt_ and 64 "
                    "hexadecimal digits");
}

absl::StatusOr<std::string> ReadTokenFile(std::string_view flag, const std::string& path) {
  ASSIGN_OR_RETURN(const std::string text, ReadWholeFile(flag, path, kMaxTokenBytes));
  RETURN_IF_ERROR(CheckMode(flag, path, kGroup | kOthers));
  absl::StatusOr<std::string> token = CheckToken(flag, text);
  if (token.ok()) return token;
  return FieldError(flag, path,
                    "must hold a token as `meshwright token create` prints it: mwt_ and 64 "
                    "hexadecimal digits");
}

}  // namespace meshwright::cli

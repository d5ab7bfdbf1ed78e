#include "server/calls/certificate_dates.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <ctime>
#include <memory>

namespace meshwright::server {
namespace {

struct FreeX509 {
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
};

absl::Time TimeOfAsn1(const ASN1_TIME* time) {
  struct tm parts = {};
  if (ASN1_TIME_to_tm(time, &parts) != 1) return absl::InfinitePast();
  return absl::FromTM(parts, absl::UTCTimeZone());
}

}  // namespace

std::optional<CertificateDates> DatesOfCertificate(std::string_view pem) {
  const std::unique_ptr<BIO, FreeX509> bio(
      BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())));
  const std::unique_ptr<X509, FreeX509> certificate(
      PEM_read_bio_X509(bio.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  if (certificate == nullptr) return std::nullopt;
  return CertificateDates{.begin = TimeOfAsn1(X509_get0_notBefore(certificate.get())),
                          .end = TimeOfAsn1(X509_get0_notAfter(certificate.get()))};
}

}  // namespace meshwright::server

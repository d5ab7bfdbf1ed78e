// CertificateDates are the dates between which a certificate is valid.
#pragma once

#include <optional>
#include <string_view>

#include "absl/time/time.h"

namespace meshwright::server {

struct CertificateDates {
  absl::Time begin;
  absl::Time end;
};

// Returns the dates of the first certificate in a text in PEM, or nullopt if there is none.
std::optional<CertificateDates> DatesOfCertificate(std::string_view pem);

}  // namespace meshwright::server

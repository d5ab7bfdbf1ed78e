#include "server/gateway/login_tries.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "absl/strings/str_cat.h"

namespace meshwright::server {
namespace {

constexpr size_t kNetworkBytes = 8;  // of an IPv6 address

std::string NetworkOf(const std::string& address) {
  in6_addr v6{};
  if (inet_pton(AF_INET6, address.c_str(), &v6) != 1) return address;
  return std::string(reinterpret_cast<const char*>(v6.s6_addr), kNetworkBytes);
}

}  // namespace

absl::Status LoginTries::Take(const std::string& address) {
  const MonotonicTime now = now_();
  std::string network = NetworkOf(address);
  const absl::MutexLock lock(&mutex_);
  if (tries_.size() >= kMostLoginAddresses && tries_.count(network) == 0) {
    std::erase_if(tries_,
                  [&](const auto& entry) { return now >= entry.second.begin + kLoginTriesTime; });
    if (tries_.size() >= kMostLoginAddresses) network.clear();
  }
  Tries& tries = tries_[network];
  if (tries.count == 0 || now >= tries.begin + kLoginTriesTime) tries = {.begin = now};
  if (tries.count < kMostLoginTries) {
    ++tries.count;
    return absl::OkStatus();
  }
  const absl::Duration rest = (tries.begin + kLoginTriesTime).since_start - now.since_start;
  return absl::ResourceExhaustedError(
      absl::StrCat("at most ", kMostLoginTries, " logins a minute are allowed from ", address,
                   " (an IPv6 address counts with its /64 network): try again in ",
                   absl::ToInt64Seconds(absl::Ceil(rest, absl::Seconds(1))), " s"));
}

}  // namespace meshwright::server

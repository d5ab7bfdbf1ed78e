#include "tools/cli/launcher/http_client.h"

#include <dlfcn.h>

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/text/status_macros.h"

namespace meshwright::cli {
namespace {

constexpr size_t kMostBodyBytes = size_t{64} << 20;
constexpr absl::Duration kConnectLimit = absl::Seconds(10);
// Debian's libcurl with OpenSSL, and the one with GnuTLS. Both have the same interface.
constexpr const char* kLibraries[] = {"libcurl.so.4", "libcurl-gnutls.so.4"};

// The functions of libcurl, which stays loaded until the process ends.
struct Curl {
  decltype(&::curl_global_init) global_init = nullptr;
  decltype(&::curl_easy_init) easy_init = nullptr;
  decltype(&::curl_easy_setopt) setopt = nullptr;
  decltype(&::curl_easy_perform) perform = nullptr;
  decltype(&::curl_easy_getinfo) getinfo = nullptr;
  decltype(&::curl_easy_cleanup) cleanup = nullptr;
  decltype(&::curl_easy_strerror) strerror = nullptr;
  decltype(&::curl_slist_append) append = nullptr;
  decltype(&::curl_slist_free_all) free_all = nullptr;
};

absl::StatusOr<Curl> LoadCurl() {
  void* library = nullptr;
  for (const char* name : kLibraries) {
    if (library == nullptr) library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL);
  }
  Curl curl;
  const auto find = [library](auto& function, const char* name) {
    if (library == nullptr) return false;
    function =
        reinterpret_cast<std::remove_reference_t<decltype(function)>>(::dlsym(library, name));
    return function != nullptr;
  };
  const bool found =
      find(curl.global_init, "curl_global_init") && find(curl.easy_init, "curl_easy_init") &&
      find(curl.setopt, "curl_easy_setopt") && find(curl.perform, "curl_easy_perform") &&
      find(curl.getinfo, "curl_easy_getinfo") && find(curl.cleanup, "curl_easy_cleanup") &&
      find(curl.strerror, "curl_easy_strerror") && find(curl.append, "curl_slist_append") &&
      find(curl.free_all, "curl_slist_free_all");
  if (!found || curl.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
    return absl::FailedPreconditionError(
        "libcurl.so.4 is not on this machine, and --launcher kubernetes reaches the API server by "
        "it: install it (Debian: apt install libcurl4)");
  }
  return curl;
}

// One exchange, as libcurl's callbacks see it.
struct Exchange {
  const Curl& curl;
  CURL* handle;
  const BodyReader* read = nullptr;                // null: the body is kept
  const std::function<bool()>* stopped = nullptr;  // null: nothing stops it
  HttpAnswer answer = {};

  int32_t StatusNow() const {
    long status = 0;
    curl.getinfo(handle, CURLINFO_RESPONSE_CODE, &status);
    return static_cast<int32_t>(status);
  }
};

size_t OnBody(char* data, size_t size, size_t count, void* raw) {
  auto& exchange = *static_cast<Exchange*>(raw);
  const std::string_view piece(data, size * count);
  if (exchange.read != nullptr && exchange.StatusNow() == 200) {
    (*exchange.read)(piece);
    return piece.size();
  }
  if (exchange.answer.body.size() + piece.size() > kMostBodyBytes) return 0;
  exchange.answer.body.append(piece);
  return piece.size();
}

int OnProgress(void* raw, curl_off_t, curl_off_t, curl_off_t, curl_off_t) {
  const auto& exchange = *static_cast<const Exchange*>(raw);
  return exchange.stopped != nullptr && (*exchange.stopped)() ? 1 : 0;
}

class HttpClient : public HttpTransport {
 public:
  HttpClient(Curl curl, HttpServer server) : curl_(curl), server_(std::move(server)) {}

  absl::StatusOr<HttpAnswer> Send(const HttpRequest& request) const override {
    return Exchanged(request, nullptr, nullptr);
  }

  absl::StatusOr<HttpAnswer> Stream(const HttpRequest& request, const BodyReader& read,
                                    const std::function<bool()>& stopped) const override {
    return Exchanged(request, &read, &stopped);
  }

 private:
  absl::StatusOr<HttpAnswer> Exchanged(const HttpRequest& request, const BodyReader* read,
                                       const std::function<bool()>* stopped) const {
    const std::unique_ptr<CURL, decltype(&::curl_easy_cleanup)> handle(curl_.easy_init(),
                                                                       curl_.cleanup);
    if (handle == nullptr) return absl::ResourceExhaustedError("libcurl has no memory");
    Exchange exchange = {curl_, handle.get(), read, stopped};
    const std::unique_ptr<curl_slist, decltype(&::curl_slist_free_all)> headers(HeadersOf(request),
                                                                                curl_.free_all);
    SetUp(request, headers.get(), exchange);
    const CURLcode code = curl_.perform(handle.get());
    if (code == CURLE_ABORTED_BY_CALLBACK) return absl::CancelledError("the request is stopped");
    if (code != CURLE_OK) {
      return absl::UnavailableError(
          absl::StrCat(server_.url, " does not answer: ", curl_.strerror(code)));
    }
    exchange.answer.status = exchange.StatusNow();
    return std::move(exchange.answer);
  }

  curl_slist* HeadersOf(const HttpRequest& request) const {
    curl_slist* headers = curl_.append(nullptr, "Accept: application/json");
    if (!request.content_type.empty()) {
      headers = curl_.append(headers, absl::StrCat("Content-Type: ", request.content_type).c_str());
    }
    if (!request.bearer_token.empty()) {
      headers = curl_.append(headers,
                             absl::StrCat("Authorization: Bearer ", request.bearer_token).c_str());
    }
    return headers;
  }

  void SetUp(const HttpRequest& request, const curl_slist* headers, Exchange& exchange) const {
    CURL* const handle = exchange.handle;
    curl_.setopt(handle, CURLOPT_URL, absl::StrCat(server_.url, request.path).c_str());
    curl_.setopt(handle, CURLOPT_CUSTOMREQUEST, request.method.c_str());
    curl_.setopt(handle, CURLOPT_HTTPHEADER, headers);
    if (!request.body.empty()) {
      curl_.setopt(handle, CURLOPT_POSTFIELDSIZE_LARGE,
                   static_cast<curl_off_t>(request.body.size()));
      curl_.setopt(handle, CURLOPT_POSTFIELDS, request.body.c_str());
    }
    if (!server_.ca_file.empty()) curl_.setopt(handle, CURLOPT_CAINFO, server_.ca_file.c_str());
    // Signals and a proxy of the environment belong to the process's user, not to this exchange.
    curl_.setopt(handle, CURLOPT_NOSIGNAL, 1L);
    curl_.setopt(handle, CURLOPT_PROXY, "");
    curl_.setopt(handle, CURLOPT_TCP_KEEPALIVE, 1L);
    curl_.setopt(handle, CURLOPT_CONNECTTIMEOUT_MS,
                 static_cast<long>(absl::ToInt64Milliseconds(kConnectLimit)));
    curl_.setopt(handle, CURLOPT_TIMEOUT_MS,
                 static_cast<long>(absl::ToInt64Milliseconds(request.limit)));
    curl_.setopt(handle, CURLOPT_WRITEFUNCTION, &OnBody);
    curl_.setopt(handle, CURLOPT_WRITEDATA, &exchange);
    curl_.setopt(handle, CURLOPT_NOPROGRESS, 0L);
    curl_.setopt(handle, CURLOPT_XFERINFOFUNCTION, &OnProgress);
    curl_.setopt(handle, CURLOPT_XFERINFODATA, &exchange);
  }

  const Curl curl_;
  const HttpServer server_;
};

}  // namespace

absl::StatusOr<std::shared_ptr<const HttpTransport>> MakeHttpClient(HttpServer server) {
  static const absl::StatusOr<Curl>* const curl = new absl::StatusOr<Curl>(LoadCurl());
  RETURN_IF_ERROR(curl->status());
  return std::make_shared<HttpClient>(**curl, std::move(server));
}

}  // namespace meshwright::cli

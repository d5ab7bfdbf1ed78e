#include "tests/server/gateway/http_client.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>

#include <algorithm>
#include <cstdlib>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/system/unique_fd.h"
#include "tests/server/http/http_peer.h"

namespace meshwright::server {
namespace {

constexpr size_t kBufferBytes = size_t{16} << 10;

class PlainLine final : public HttpLine {
 public:
  explicit PlainLine(const HostPort& server) : peer_(server) {}
  bool Send(std::string_view bytes) override { return peer_.Send(bytes); }
  std::string Read() override { return peer_.ReadSome(); }

 private:
  HttpPeer peer_;
};

struct FreeTls {
  void operator()(SSL* tls) const { SSL_free(tls); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(BIO* bio) const { BIO_free(bio); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
};

class TlsLine final : public HttpLine {
 public:
  explicit TlsLine(const HttpCaller& caller)
      : peer_(caller.server), context_(SSL_CTX_new(TLS_client_method())) {
    if (caller.identity != nullptr) Use(*caller.identity);
    tls_.reset(SSL_new(context_.get()));
    SSL_set_fd(tls_.get(), peer_.descriptor());
  }
  bool Connect() { return SSL_connect(tls_.get()) == 1; }
  bool Send(std::string_view bytes) override {
    return SSL_write(tls_.get(), bytes.data(), static_cast<int>(bytes.size())) > 0;
  }
  std::string Read() override {
    char buffer[kBufferBytes];
    const int read = SSL_read(tls_.get(), buffer, sizeof buffer);
    ERR_clear_error();
    return read > 0 ? std::string(buffer, static_cast<size_t>(read)) : "";
  }

 private:
  void Use(const TestIdentity& identity) {
    const auto bio = [](const std::string& text) {
      return std::unique_ptr<BIO, FreeTls>(
          BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
    };
    const std::unique_ptr<X509, FreeTls> certificate(
        PEM_read_bio_X509(bio(identity.certificate).get(), nullptr, nullptr, nullptr));
    const std::unique_ptr<EVP_PKEY, FreeTls> key(
        PEM_read_bio_PrivateKey(bio(identity.key).get(), nullptr, nullptr, nullptr));
    SSL_CTX_use_certificate(context_.get(), certificate.get());
    SSL_CTX_use_PrivateKey(context_.get(), key.get());
  }

  HttpPeer peer_;
  std::unique_ptr<SSL_CTX, FreeTls> context_;
  std::unique_ptr<SSL, FreeTls> tls_;
};

bool HasField(const HttpFields& fields, const std::string& name) {
  return std::any_of(fields.begin(), fields.end(),
                     [&](const auto& field) { return field.first == name; });
}

}  // namespace

std::string HttpAnswer::Field(std::string_view name) const {
  for (const absl::string_view line : absl::StrSplit(head, "\r\n")) {
    const std::pair<std::string, std::string> field =
        absl::StrSplit(line, absl::MaxSplits(": ", 1));
    if (absl::AsciiStrToLower(field.first) ==
        absl::AsciiStrToLower(absl::string_view(name.data(), name.size()))) {
      return field.second;
    }
  }
  return "";
}

std::string HttpLine::ReadUntil(std::string_view end) {
  std::string bytes;
  while (bytes.find(end) == std::string::npos) {
    const std::string more = Read();
    if (more.empty()) break;
    bytes += more;
  }
  return bytes;
}

std::unique_ptr<HttpLine> Connect(const HttpCaller& caller) {
  if (!caller.tls) return std::make_unique<PlainLine>(caller.server);
  auto line = std::make_unique<TlsLine>(caller);
  if (!line->Connect()) return nullptr;
  return line;
}

std::string RequestText(const HttpCaller& caller, const std::string& method,
                        const std::string& target, const HttpFields& fields,
                        const std::string& body) {
  std::string text = absl::StrCat(method, " ", target, " HTTP/1.1\r\n");
  for (const auto& [name, value] : fields) absl::StrAppend(&text, name, ": ", value, "\r\n");
  if (!HasField(fields, "Host")) absl::StrAppend(&text, "Host: ", ToText(caller.server), "\r\n");
  if (!body.empty() && !HasField(fields, "Content-Length")) {
    absl::StrAppend(&text, "Content-Length: ", body.size(), "\r\n");
  }
  return absl::StrCat(text, "\r\n", body);
}

HttpAnswer Ask(const HttpCaller& caller, const std::string& method, const std::string& target,
               const HttpFields& fields, const std::string& body) {
  const std::unique_ptr<HttpLine> line = Connect(caller);
  if (line == nullptr) return {};
  HttpFields all = fields;
  all.emplace_back("Connection", "close");
  line->Send(RequestText(caller, method, target, all, body));
  std::string bytes;
  for (std::string more = line->Read(); !more.empty(); more = line->Read()) bytes += more;
  HttpAnswer answer;
  const size_t end = bytes.find("\r\n\r\n");
  if (end == std::string::npos) return answer;
  answer.head = bytes.substr(0, end);
  answer.body = bytes.substr(end + 4);
  answer.status = std::atoi(answer.head.substr(answer.head.find(' ')).c_str());
  return answer;
}

HttpAnswer Post(const HttpCaller& caller, const std::string& target, const std::string& body,
                HttpFields fields) {
  fields.emplace_back("Content-Type", "application/json");
  return Ask(caller, "POST", target, fields, body);
}

std::vector<nlohmann::json> EventsIn(const std::string& bytes, const std::string& kind) {
  std::vector<nlohmann::json> events;
  const std::string begin = absl::StrCat("event: ", kind, "\ndata: ");
  for (size_t at = bytes.find(begin); at != std::string::npos; at = bytes.find(begin, at + 1)) {
    const size_t data = at + begin.size();
    const size_t end = bytes.find("\n\n", data);
    if (end == std::string::npos) break;
    events.push_back(nlohmann::json::parse(bytes.substr(data, end - data), nullptr, false));
  }
  return events;
}

}  // namespace meshwright::server

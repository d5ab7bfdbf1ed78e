// HttpRequest and HttpResponse are the messages of an HttpServer.
#pragma once

#include <algorithm>
#include <any>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace meshwright::server {

struct HttpField {
  std::string name;
  std::string value;
};

// The certificate that a peer presented and that a CA of ServerTls::client_ca signed.
struct PeerCertificate {
  std::string pem;
  std::vector<std::string> uris;  // among the subject's alternative names
};

// Facts about the connection that a request came on.
struct HttpConnectionFacts {
  std::string peer_address;  // of the peer, numeric, without a port: "10.0.0.7", "fd00::7"
  std::string own_address;   // the address that the peer connected to, in the same form
  bool is_secure = false;    // whether it uses TLS
  std::optional<PeerCertificate> certificate;
};

struct HttpRequest {
  std::string method;             // as the peer wrote it: "GET"
  std::string path;               // the target's, without the query, not decoded
  std::string query;              // what follows the target's first "?"
  std::vector<HttpField> fields;  // in the order of the request; names in lower case
  std::string body;
  HttpConnectionFacts connection;
  std::any note;  // set by HttpService::admit for HttpService::handle

  // Returns the value of the request's first field `name`, or nullopt if there is no such field.
  // `name` is in lower case.
  std::optional<std::string_view> Field(std::string_view name) const {
    const auto found = std::find_if(fields.begin(), fields.end(),
                                    [&](const HttpField& field) { return field.name == name; });
    if (found == fields.end()) return std::nullopt;
    return found->value;
  }
  // Returns the number of the request's fields called `name`.
  int CountOf(std::string_view name) const {
    return static_cast<int>(std::count_if(
        fields.begin(), fields.end(), [&](const HttpField& field) { return field.name == name; }));
  }
};

struct HttpResponse {
  int status = 200;
  std::string content_type = "text/plain; charset=utf-8";  // empty: the answer has no body
  std::string body = {};
  std::vector<HttpField> fields = {};  // further header fields, such as Allow
};

}  // namespace meshwright::server

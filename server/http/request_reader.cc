#include "server/http/request_reader.h"

#include <string>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/text/string_view.h"
#include "boost/asio/buffer.hpp"
#include "boost/beast/http/empty_body.hpp"
#include "boost/beast/http/error.hpp"
#include "boost/beast/http/parser.hpp"

namespace meshwright::server {
namespace {

namespace http = boost::beast::http;

std::string Lower(boost::beast::string_view text) {
  return absl::AsciiStrToLower(absl::string_view(text.data(), text.size()));
}

}  // namespace

// Beast reads the head; a body of known length needs no parser.
struct RequestReader::Parser : http::request_parser<http::empty_body> {};

RequestReader::RequestReader(uint32_t most_header_bytes)
    : parser_(std::make_unique<Parser>()), most_header_bytes_(most_header_bytes) {
  parser_->header_limit(most_header_bytes);
  parser_->body_limit(boost::none);
}

RequestReader::~RequestReader() = default;

RequestReader::Progress RequestReader::Refuse(int status, std::string_view why) {
  refusal_ = {.status = status, .body = absl::StrCat(AbslView(why), "\n")};
  return Progress::kRefused;
}

RequestReader::Progress RequestReader::TakeHead(std::string_view bytes, size_t& used) {
  boost::system::error_code error;
  const size_t read = parser_->put(boost::asio::buffer(bytes.data(), bytes.size()), error);
  used += read;
  head_bytes_ += read;
  // Beast limits the part that it has not read yet.
  if (error == http::error::header_limit || head_bytes_ > most_header_bytes_) {
    return Refuse(431, "the request's header is too long");
  }
  if (error == http::error::need_more) return Progress::kNeedsMore;
  if (error == http::error::bad_transfer_encoding) {
    return Refuse(501, "this server takes no Transfer-Encoding: send Content-Length");
  }
  if (error) return Refuse(400, "the request is not HTTP/1.1");
  has_head_ = true;
  const auto& head = parser_->get();
  if (head.find(http::field::transfer_encoding) != head.end()) {
    return Refuse(411, "the request's body needs a Content-Length");
  }
  request_.method = std::string(head.method_string());
  const std::string target(head.target());
  const size_t query = target.find('?');
  request_.path = target.substr(0, query);
  if (query != std::string::npos) request_.query = target.substr(query + 1);
  for (const auto& field : head) {
    request_.fields.push_back({Lower(field.name_string()), std::string(field.value())});
  }
  body_bytes_ = parser_->content_length().value_or(0);
  keeps_alive_ = parser_->keep_alive();
  is_http_1_0_ = head.version() < 11;
  return Progress::kHead;
}

bool RequestReader::awaits_continue() const {
  return body_bytes_ > 0 && !is_http_1_0_ &&
         absl::EqualsIgnoreCase(AbslView(request_.Field("expect").value_or("")), "100-continue");
}

RequestReader::Progress RequestReader::Take(std::string_view bytes, size_t& used) {
  if (!has_head_) return TakeHead(bytes, used);
  if (!may_read_body_) return Progress::kHead;
  const uint64_t missing = body_bytes_ - request_.body.size();
  const std::string_view more = bytes.substr(0, missing);
  if (request_.body.empty()) request_.body.reserve(body_bytes_);
  request_.body += more;
  used += more.size();
  return request_.body.size() == body_bytes_ ? Progress::kWhole : Progress::kNeedsMore;
}

}  // namespace meshwright::server

#include "tools/cli/common/peer_texts.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "absl/strings/ascii.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/text/message_text.h"
#include "google/protobuf/descriptor.h"

namespace meshwright::cli {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

bool IsData(const FieldDescriptor& field) {
  const std::string& name = field.name();
  return field.type() == FieldDescriptor::TYPE_BYTES || name.ends_with("json") ||
         name.ends_with("csv");
}

bool HasLines(const FieldDescriptor& field) {
  return field.name().ends_with("message") || field.name().ends_with("reason");
}

std::string EscapedText(const FieldDescriptor& field, const std::string& text) {
  const auto is_plain = [](unsigned char c) { return absl::ascii_isprint(c); };
  if (IsData(field) || std::all_of(text.begin(), text.end(), is_plain)) return text;
  if (!HasLines(field)) return EscapeControls(text);
  return absl::StrJoin(absl::StrSplit(text, '\n'), "\n",
                       [](std::string* out, absl::string_view line) {
                         out->append(EscapeControls(std::string_view(line.data(), line.size())));
                       });
}

void EscapeField(Message& message, const FieldDescriptor& field) {
  const Reflection& reflection = *message.GetReflection();
  const int count = field.is_repeated() ? reflection.FieldSize(message, &field) : 1;
  for (int i = 0; i < count; ++i) {
    if (field.cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE) {
      EscapeTexts(field.is_repeated() ? *reflection.MutableRepeatedMessage(&message, &field, i)
                                      : *reflection.MutableMessage(&message, &field));
    } else if (field.is_repeated()) {
      reflection.SetRepeatedString(
          &message, &field, i,
          EscapedText(field, reflection.GetRepeatedString(message, &field, i)));
    } else {
      reflection.SetString(&message, &field,
                           EscapedText(field, reflection.GetString(message, &field)));
    }
  }
}

class TextEscaping final : public grpc::experimental::Interceptor {
 public:
  void Intercept(grpc::experimental::InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(
            grpc::experimental::InterceptionHookPoints::POST_RECV_MESSAGE)) {
      // Null where there was none. Every method of the services receives a protobuf message.
      if (void* const received = methods->GetRecvMessage()) {
        EscapeTexts(*static_cast<Message*>(received));
      }
    }
    methods->Proceed();
  }
};

class TextEscapingFactory final : public grpc::experimental::ClientInterceptorFactoryInterface {
 public:
  grpc::experimental::Interceptor* CreateClientInterceptor(
      grpc::experimental::ClientRpcInfo* /*info*/) override {
    return new TextEscaping();  // gRPC deletes it
  }
};

}  // namespace

void EscapeTexts(Message& message) {
  std::vector<const FieldDescriptor*> fields;
  message.GetReflection()->ListFields(message, &fields);  // those that are set
  for (const FieldDescriptor* field : fields) {
    const bool may_have_texts = field->cpp_type() == FieldDescriptor::CPPTYPE_STRING ||
                                field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (may_have_texts) EscapeField(message, *field);
  }
}

std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>>
TextEscapingInterceptors() {
  std::vector<std::unique_ptr<grpc::experimental::ClientInterceptorFactoryInterface>> factories;
  factories.push_back(std::make_unique<TextEscapingFactory>());
  return factories;
}

}  // namespace meshwright::cli

// SchemaWriter writes the JSON Schema (draft 7) of the JSON that a struct's fields print
// (planner/codec/fields.h).
//
// A field's description is the comment on the message's field of the same name. A field that no
// message has is described by the sentence beside its name. A field with neither, or with both, is
// reported as a problem.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "executor/wire/message_codec.h"
#include "google/protobuf/descriptor.h"
#include "nlohmann/json.hpp"
#include "planner/codec/fields.h"
#include "planner/codec/json_codec.h"
#include "planner/containers/enum_set.h"
#include "tests/tools/schema/proto_comments.h"

namespace meshwright::cli {

// The properties of a struct that its fields do not show. SchemaPart is specialised for structs
// that have a message of their own or are described in parts.json.
struct NoSchemaPart {
  static constexpr std::string_view kName = "";  // name in parts.json; empty: described in place
  static constexpr std::string_view kSentence = "";  // description of a struct without a message
  // The boolean key that is written only if it is true; empty if there is none.
  static constexpr std::string_view kOnlyTrue = "";
  static const google::protobuf::Descriptor* Message() { return nullptr; }
};
template <typename T>
struct SchemaPart : NoSchemaPart {};

// The type by which a field's value is described, and whether the value may be absent.
template <typename T>
struct Unwrapped {
  using Type = T;
  static constexpr bool kOptional = false;
};
template <typename T>
struct Unwrapped<planner::WrittenJson<T>> : Unwrapped<T> {};
template <typename T>
struct Unwrapped<std::optional<T>> {
  using Type = typename Unwrapped<T>::Type;
  static constexpr bool kOptional = true;
};

// The objects that the writers of all files share.
struct SchemaSources {
  ProtoComments comments;
  std::vector<std::string> problems;  // one line per problem
};

// Returns the schema of a value that is null or has the schema `node`.
nlohmann::ordered_json OrNullSchema(nlohmann::ordered_json node);
// Returns `node` with its description, which follows the type.
nlohmann::ordered_json WithDescription(nlohmann::ordered_json node, std::string text);
// Returns the texts for which the enumerators of a field stand; empty if the field is no enum.
std::vector<std::string> EnumeratorTexts(const google::protobuf::FieldDescriptor* field);

class SchemaWriter {
 public:
  using Json = nlohmann::ordered_json;
  using FieldDescriptor = google::protobuf::FieldDescriptor;
  using Descriptor = google::protobuf::Descriptor;

  // Writes into `object`, the schema of an object that problems call `path`. `message` is the
  // message as which the struct is sent; null if it is not sent.
  SchemaWriter(SchemaSources& sources, std::string path, Json& object, const Descriptor* message,
               planner::TextParts parts = planner::kAllParts)
      : sources_(sources),
        path_(std::move(path)),
        object_(object),
        message_(message),
        parts_(parts) {
    object_["type"] = "object";
  }

  // Visits the fields of a default-constructed struct.
  template <planner::HasFields T>
  void Write() {
    const T value{};
    VisitFields(value, *this);
    if (const std::string key(SchemaPart<T>::kOnlyTrue); !key.empty()) {
      object_["properties"][key]["const"] = true;
    }
  }

  template <typename T>
  void operator()(const planner::Field& field, const T&) {
    using Value = typename Unwrapped<T>::Type;
    if (Skips(field)) return;
    if constexpr (planner::HasFields<const Value>) {
      if (field.inside) return Merge<Value>(field, Unwrapped<T>::kOptional);
    }
    Put(field, Unwrapped<T>::kOptional, Of<Value>(field, field.only_text ? nullptr : Sent(field)));
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, const T&, const Names& names) {
    if (Skips(field)) return;
    Put(field, Unwrapped<T>::kOptional, TextOf(field, names));
  }
  template <typename Kind, typename Names>
  void operator()(const planner::Field& field, const planner::EnumSet<Kind>&, const Names& names) {
    if (Skips(field)) return;
    Put(field, /*optional=*/false, {{"type", "array"}, {"items", TextOf(field, names)}});
  }
  template <typename T>
  void Derived(const planner::Field& field, const T& value) {
    (*this)(field, value);
  }

 private:
  bool Skips(const planner::Field& field) const {
    return field.only_wire || (field.parts & parts_) == 0;
  }

  // Returns the message's field of this name; null if there is none.
  const FieldDescriptor* Sent(const planner::Field& field) const {
    if (message_ == nullptr) return nullptr;
    return message_->FindFieldByName(std::string(wire::MessageName(field)));
  }
  // Returns the message as which a struct of this type, or an entry of such a list, is sent.
  template <typename T>
  static const Descriptor* MessageOf(const FieldDescriptor* sent) {
    if (SchemaPart<T>::Message() != nullptr) return SchemaPart<T>::Message();
    if (sent == nullptr || sent->message_type() == nullptr) return nullptr;
    return sent->is_map() ? sent->message_type()->map_value()->message_type()
                          : sent->message_type();
  }

  std::string PathOf(const planner::Field& field) const {
    return absl::StrCat(path_, ".", std::string(field.name));
  }
  std::string Sentence(const planner::Field& field) {
    // A field that only texts have may have its own sentence, even if a message has such a field in
    // another form.
    if (field.only_text && !field.sentence.empty()) return std::string(field.sentence);
    const FieldDescriptor* sent = Sent(field);
    const std::string comment = sent == nullptr ? "" : sources_.comments.Of(*sent);
    if (comment.empty() && field.sentence.empty()) {
      sources_.problems.push_back(PathOf(field) + " is not described");
    }
    if (!comment.empty() && !field.sentence.empty()) {
      sources_.problems.push_back(PathOf(field) + " is described beside its name and in " +
                                  sent->full_name());
    }
    return comment.empty() ? std::string(field.sentence) : comment;
  }

  void Put(const planner::Field& field, bool optional, Json node) {
    const std::string key(field.name);
    if (field.or_null) node = OrNullSchema(std::move(node));
    const bool required = field.or_null || !(optional || field.optional || all_optional_);
    if (required) object_["required"].push_back(key);
    Json described = WithDescription(std::move(node), Sentence(field));
    object_["properties"][key] = std::move(described);
  }

  // Writes the fields of a struct as keys of this object.
  template <typename T>
  void Merge(const planner::Field& field, bool optional) {
    if (!SchemaPart<T>::kName.empty() && !optional) {
      object_["allOf"].push_back(Reference<T>());
      return;
    }
    SchemaWriter inside(sources_, path_, object_, MessageOf<T>(Sent(field)), parts_);
    inside.all_optional_ = all_optional_ || optional || field.optional;
    inside.Write<T>();
  }

  template <typename T>
  static Json Reference() {
    return {{"$ref", absl::StrCat("parts.json#/definitions/", std::string(SchemaPart<T>::kName))}};
  }

  template <typename T, size_t kCount>
  static Json TextOf(const planner::Field& field, const EnumNames<T, kCount>& names) {
    Json node = {{"type", "string"}, {"enum", Json::array()}};
    for (const auto& entry : names) {
      // A field with the empty name is not written.
      if (field.optional && entry.second.empty()) continue;
      node["enum"].push_back(std::string(entry.second));
    }
    return node;
  }
  template <typename ToText, typename Parse>
  Json TextOf(const planner::Field& field, const planner::TextForm<ToText, Parse>&) const {
    return Of<std::string>(field, Sent(field));
  }

  static Json Text(const planner::Field& field, const FieldDescriptor* sent) {
    std::vector<std::string> among(field.among.begin(), field.among.end());
    if (among.empty()) among = EnumeratorTexts(sent);
    Json node = {{"type", "string"}};
    if (!among.empty()) node["enum"] = among;
    return node;
  }
  static Json Number(const planner::Field& field, const char* type) {
    Json node = {{"type", type}};
    if (field.at_least) node["minimum"] = *field.at_least;
    return node;
  }

  template <typename T>
  struct IsList : std::false_type {};
  template <typename T>
  struct IsList<std::vector<T>> : std::true_type {
    using Entry = T;
  };
  template <typename T>
  struct IsMap : std::false_type {};
  template <typename T>
  struct IsMap<std::map<std::string, T>> : std::true_type {
    using Entry = T;
  };
  template <typename T>
  struct IsMap<planner::OrderedMap<T>> : std::true_type {
    using Entry = T;
  };

  template <typename T>
  Json Of(const planner::Field& field, const FieldDescriptor* sent) const {
    if constexpr (std::is_same_v<T, bool>) {
      return {{"type", "boolean"}};
    } else if constexpr (std::is_integral_v<T>) {
      return Number(field, "integer");
    } else if constexpr (std::is_floating_point_v<T>) {
      return Number(field, "number");
    } else if constexpr (std::is_same_v<T, std::string> || std::is_same_v<T, std::string_view>) {
      return Text(field, sent);
    } else if constexpr (IsMap<T>::value) {
      Json node = {{"type", "object"}};
      node["additionalProperties"] = Of<typename IsMap<T>::Entry>(field, sent);
      return node;
    } else if constexpr (IsList<T>::value) {
      Json node = {{"type", field.by_name ? "object" : "array"}};
      node[field.by_name ? "additionalProperties" : "items"] =
          Of<typename IsList<T>::Entry>(field, sent);
      return node;
    } else if constexpr (planner::HasFields<const T>) {
      return Struct<T>(field, sent);
    } else {
      return Json::object();  // any JSON
    }
  }

  template <typename T>
  Json Struct(const planner::Field& field, const FieldDescriptor* sent) const {
    if (!SchemaPart<T>::kName.empty()) return Reference<T>();
    Json node;
    if (field.text_parts.empty()) {
      SchemaWriter inner(sources_, PathOf(field), node, MessageOf<T>(sent), parts_);
      inner.Write<T>();
    } else {
      node["type"] = "object";
    }
    for (size_t i = 0; i < field.text_parts.size(); ++i) {
      const planner::TextPart& part = field.text_parts[i];
      Json inside;
      SchemaWriter inner(sources_, absl::StrCat(PathOf(field), ".", std::string(part.name)), inside,
                         MessageOf<T>(sent), static_cast<planner::TextParts>(1u << i));
      inner.Write<T>();
      node["required"].push_back(std::string(part.name));
      node["properties"][std::string(part.name)] =
          WithDescription(std::move(inside), std::string(part.sentence));
    }
    if (field.closed) node["additionalProperties"] = false;
    if (field.open) node["additionalProperties"] = true;
    return node;
  }

  SchemaSources& sources_;
  const std::string path_;
  Json& object_;
  const Descriptor* message_;
  const planner::TextParts parts_;
  bool all_optional_ = false;
};

}  // namespace meshwright::cli

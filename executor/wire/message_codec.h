// WriteMessage() and ReadMessage() convert structs with fields (planner/codec/fields.h) to protobuf
// messages and back. VisitFields(), which also makes a struct's JSON, names the message's fields.
//
// - Text is written as valid UTF-8, so that no message is lost because of one bad byte.
// - A field whose values have names (EnumNames) may be an enum in the message. The enumerators are
//   then the names in capitals, each after the enum's prefix. The first enumerator,
//   PREFIX_UNSPECIFIED, stands for the empty name.
// - An optional without a value is absent from the message.
//
// REQUIRES: every field of a struct, except those that only texts have, is a field of its message,
// under its MessageName() and of the same type, and vice versa.
// tests/executor/wire/message_names_test.cc checks this for all structs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "base/text/field_error.h"
#include "base/text/string_view.h"
#include "google/protobuf/generated_enum_reflection.h"
#include "google/protobuf/message.h"
#include "planner/codec/fields.h"

namespace meshwright::wire {

// Returns the name of `field` in a message.
inline std::string_view MessageName(const planner::Field& field) {
  return field.message_name.empty() ? field.name : field.message_name;
}

// Returns the field of that name in the type of `message`. REQUIRES: the type has such a field.
const google::protobuf::FieldDescriptor& FieldNamed(const google::protobuf::Message& message,
                                                    const planner::Field& field);

// Returns the enumerator that `text` names, or null if there is none.
const google::protobuf::EnumValueDescriptor* EnumeratorOf(
    const google::protobuf::EnumDescriptor& type, std::string_view text);
// Returns the name of an enumerator without the enum's prefix, or its number if this build does not
// know it.
std::string EnumeratorName(const google::protobuf::EnumDescriptor& type, int number);

// Returns the name of the enumerator `value` without the enum's prefix, as EnumeratorName() does.
template <typename Enum>
std::string TextOf(Enum value) {
  return EnumeratorName(*google::protobuf::GetEnumDescriptor<Enum>(), value);
}
// Returns the enumerator that `text` names, or UNSPECIFIED if there is none.
template <typename Enum>
Enum EnumOf(std::string_view text) {
  const auto* found = EnumeratorOf(*google::protobuf::GetEnumDescriptor<Enum>(), text);
  return static_cast<Enum>(found == nullptr ? 0 : found->number());
}

// Each PutValue() sets a field, or adds an entry to a repeated field.
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              bool value);
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              int32_t value);
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              int64_t value);
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              uint64_t value);
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              double value);
// Sets or adds a string, or the enumerator that `value` names. An enum stays UNSPECIFIED if `value`
// names no enumerator.
void PutValue(google::protobuf::Message& message, const google::protobuf::FieldDescriptor& field,
              std::string_view value);
// Returns the message in a field, or a new entry of a repeated field, for the caller to fill.
google::protobuf::Message& PutMessage(google::protobuf::Message& message,
                                      const google::protobuf::FieldDescriptor& field);

// Each GetValue() reads entry `index` of a repeated field, or a field that is not repeated if
// `index` is -1.
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, bool& value);
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, int32_t& value);
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, int64_t& value);
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, uint64_t& value);
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, double& value);
// Reads a string, or the EnumeratorName() of an enumerator.
void GetValue(const google::protobuf::Message& message,
              const google::protobuf::FieldDescriptor& field, int index, std::string& value);

// MessageWriter is a visitor that writes a struct's fields to a message.
class MessageWriter {
 public:
  explicit MessageWriter(google::protobuf::Message& to) : to_(to) {}

  template <typename T>
  void operator()(const planner::Field& field, const T& value) {
    if (!field.only_text) Put(FieldNamed(to_, field), value);
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, const T& value, const Names& names) {
    if (!field.only_text) PutValue(to_, FieldNamed(to_, field), planner::TextBy(names, value));
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, const std::optional<T>& value, const Names& names) {
    if (value.has_value()) (*this)(field, *value, names);
  }
  template <typename T>
  void Derived(const planner::Field& field, const T& value) {
    (*this)(field, value);
  }

 private:
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  template <typename T>
  void Put(const FieldDescriptor& field, const T& value) {
    if constexpr (planner::HasFields<const T>) {
      MessageWriter inner(PutMessage(to_, field));
      VisitFields(value, inner);
    } else {
      PutValue(to_, field, value);
    }
  }
  template <typename T>
  void Put(const FieldDescriptor& field, const std::optional<T>& value) {
    if (value.has_value()) Put(field, *value);
  }
  template <typename T>
  void Put(const FieldDescriptor& field, const std::vector<T>& values) {
    for (const T& value : values) Put(field, value);
  }
  template <typename T>
  void Put(const FieldDescriptor& field, const std::map<std::string, T>& values) {
    for (const auto& [key, value] : values) PutEntry(field, key, value);
  }
  template <typename T>
  void Put(const FieldDescriptor& field, const planner::OrderedMap<T>& values) {
    for (const auto& [key, value] : values) PutEntry(field, key, value);
  }
  template <typename T>
  void PutEntry(const FieldDescriptor& field, const std::string& key, const T& value) {
    MessageWriter entry(PutMessage(to_, field));
    entry("key", key);
    entry("value", value);
  }

  google::protobuf::Message& to_;
};

// MessageReader is a visitor that reads a struct's fields from a message. It reads nothing more
// after the first error.
class MessageReader {
 public:
  MessageReader(const google::protobuf::Message& from, const FieldPath& path, absl::Status& status)
      : from_(from), path_(path), status_(status) {}

  template <typename T>
  void operator()(const planner::Field& field, T& value) {
    if (field.only_text || !status_.ok()) return;
    Get(FieldNamed(from_, field), -1, {path_, field.name}, value);
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, T& value, const Names& names) {
    if (field.only_text || !status_.ok()) return;
    std::string text;
    GetValue(from_, FieldNamed(from_, field), -1, text);
    Respell(names, text);
    absl::StatusOr<T> read = planner::ParseBy(names, FieldPath(path_, field.name).ToText(), text);
    if (read.ok()) {
      value = *std::move(read);
    } else {
      status_ = read.status();
    }
  }
  template <typename T, typename Names>
  void operator()(const planner::Field& field, std::optional<T>& value, const Names& names) {
    if (field.only_text || !Has(FieldNamed(from_, field))) return;
    (*this)(field, value.emplace(), names);
  }
  template <typename T>
  void Derived(const planner::Field&, const T&) {}

 private:
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  // Replaces `text`, an enumerator in capitals, by the name that differs from it only in case.
  template <typename T, size_t kCount>
  static void Respell(const EnumNames<T, kCount>& names, std::string& text) {
    for (const auto& entry : names) {
      const absl::string_view name = AbslView(entry.second);
      if (absl::EqualsIgnoreCase(name, text)) text = std::string(name);
    }
  }
  template <typename ToText, typename Parse>
  static void Respell(const planner::TextForm<ToText, Parse>&, std::string&) {}

  bool Has(const FieldDescriptor& field) const {
    return from_.GetReflection()->HasField(from_, &field);
  }
  // Returns the message in `field`, or entry `index` of a repeated field if `index` is not -1.
  const google::protobuf::Message& Inner(const FieldDescriptor& field, int index) const {
    return index < 0 ? from_.GetReflection()->GetMessage(from_, &field)
                     : from_.GetReflection()->GetRepeatedMessage(from_, &field, index);
  }
  int Entries(const FieldDescriptor& field) const {
    return from_.GetReflection()->FieldSize(from_, &field);
  }

  template <typename T>
  void Get(const FieldDescriptor& field, int index, const FieldPath& path, T& value) {
    if constexpr (planner::HasFields<T>) {
      if (index < 0 && !Has(field)) return;
      MessageReader inner(Inner(field, index), path, status_);
      VisitFields(value, inner);
    } else {
      GetValue(from_, field, index, value);
    }
  }
  template <typename T>
  void Get(const FieldDescriptor& field, int index, const FieldPath& path,
           std::optional<T>& value) {
    if (Has(field)) Get(field, index, path, value.emplace());
  }
  template <typename T>
  void Get(const FieldDescriptor& field, int, const FieldPath& path, std::vector<T>& values) {
    values.assign(static_cast<size_t>(Entries(field)), T{});
    for (int i = 0; i < Entries(field) && status_.ok(); ++i) {
      const auto index = static_cast<size_t>(i);
      Get(field, i, FieldPath(path, index), values[index]);
    }
  }
  template <typename T>
  void Get(const FieldDescriptor& field, int, const FieldPath& path,
           std::map<std::string, T>& values) {
    for (int i = 0; i < Entries(field); ++i) {
      std::string key;
      MessageReader entry(Inner(field, i), path, status_);
      entry("key", key);
      entry("value", values[key]);
    }
  }
  template <typename T>
  void Get(const FieldDescriptor& field, int, const FieldPath& path,
           planner::OrderedMap<T>& values) {
    values.clear();
    for (int i = 0; i < Entries(field); ++i) {
      auto& [key, value] = values.emplace_back();
      MessageReader entry(Inner(field, i), path, status_);
      entry("key", key);
      entry("value", value);
    }
  }

  const google::protobuf::Message& from_;
  const FieldPath& path_;
  absl::Status& status_;
};

template <typename Message, planner::HasFields T>
Message WriteMessage(const T& value) {
  Message message;
  MessageWriter writer(message);
  VisitFields(value, writer);
  return message;
}

// Reads a struct from its message. Returns InvalidArgument if a value can't be read. The error
// names the field by its path, with its value and what would be accepted.
template <planner::HasFields T>
absl::StatusOr<T> ReadMessage(const google::protobuf::Message& message) {
  T value{};
  absl::Status status;
  const FieldPath root("");
  MessageReader reader(message, root, status);
  VisitFields(value, reader);
  if (!status.ok()) return status;
  return value;
}

}  // namespace meshwright::wire

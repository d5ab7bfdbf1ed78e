// ExpectSameFields() expects that a struct (planner/codec/fields.h) has the fields of its message,
// except those that are marked where they are visited.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <set>
#include <string>
#include <type_traits>
#include <vector>

#include "executor/wire/message_codec.h"
#include "google/protobuf/descriptor.h"
#include "planner/codec/fields.h"
#include "planner/codec/json_codec.h"

namespace meshwright::wire {

// NamesVisitor visits a struct and a message's type together. Each field must also be in the
// message, with the same type.
class NamesVisitor {
 public:
  // Adds the message's fields whose values have another form in the struct to `other_forms`, such
  // as "Agent.running". If `other_forms` is null, there must be no such field.
  explicit NamesVisitor(const google::protobuf::Descriptor& message,
                        std::set<std::string>* other_forms = nullptr)
      : message_(message), other_forms_(other_forms) {}

  // Returns the keys that have another name in the message, such as "TrialStep.steps".
  static std::set<std::string>& Renamed() {
    static auto* const renamed = new std::set<std::string>();
    return *renamed;
  }

  template <typename T>
  void operator()(const planner::Field& field, const T&) {
    if (field.only_text) return;
    const FieldDescriptor* found = Claim(field);
    if constexpr (!std::is_same_v<T, planner::NoValue>) {
      if (found == nullptr) return;
      if (other_forms_ != nullptr && !HasForm<T>(*found)) {
        other_forms_->insert(message_.name() + "." + found->name());
      } else {
        ExpectType<T>(*found);
      }
    }
  }
  template <typename T, size_t kCount>
  void operator()(const planner::Field& field, const T&, const EnumNames<T, kCount>& names) {
    const google::protobuf::FieldDescriptor* found = Claim(field);
    if (found == nullptr) return;
    if (found->enum_type() == nullptr) {
      EXPECT_EQ(found->type(), google::protobuf::FieldDescriptor::TYPE_STRING)
          << found->full_name();
      return;
    }
    for (const auto& [value, name] : names) {
      EXPECT_NE(EnumeratorOf(*found->enum_type(), name), nullptr)
          << found->enum_type()->full_name() << " lacks " << name;
    }
    // UNSPECIFIED stands for the empty name, which not every table has.
    EXPECT_EQ(found->enum_type()->value_count(),
              static_cast<int>(kCount) + (HasEmpty(names) ? 0 : 1))
        << found->enum_type()->full_name();
  }
  template <typename T, size_t kCount>
  void operator()(const planner::Field& field, const std::optional<T>&,
                  const EnumNames<T, kCount>& names) {
    (*this)(field, T{}, names);
  }
  template <typename Kind, size_t kCount>
  void operator()(const planner::Field& field, const planner::EnumSet<Kind>&,
                  const EnumNames<Kind, kCount>&) {
    if (const auto* found = Claim(field)) ExpectType<std::string>(*found);
  }
  template <typename T, typename ToText, typename Parse>
  void operator()(const planner::Field& field, const T&, const planner::TextForm<ToText, Parse>&) {
    if (const auto* found = Claim(field)) ExpectType<std::string>(*found);
  }
  template <typename T>
  void Derived(const planner::Field& field, const T& value) {
    (*this)(field, value);
  }

  // Expects that every field of the message was visited.
  void ExpectAllVisited() const {
    for (int i = 0; i < message_.field_count(); ++i) {
      EXPECT_TRUE(visited_.contains(message_.field(i)->name()))
          << message_.field(i)->full_name() << " is no field of the struct";
    }
  }

 private:
  using FieldDescriptor = google::protobuf::FieldDescriptor;

  template <typename T, size_t kCount>
  static bool HasEmpty(const EnumNames<T, kCount>& names) {
    for (const auto& entry : names) {
      if (entry.second.empty()) return true;
    }
    return false;
  }

  const FieldDescriptor* Claim(const planner::Field& field) {
    const std::string name(MessageName(field));
    visited_.insert(name);
    if (name != field.name) Renamed().insert(message_.name() + "." + std::string(field.name));
    const FieldDescriptor* found = message_.FindFieldByName(name);
    EXPECT_NE(found, nullptr) << message_.full_name() << " lacks " << name;
    return found;
  }

  // Returns whether the field is a time, which structs hold as text.
  static bool IsTime(const FieldDescriptor& field) {
    return field.message_type() != nullptr &&
           field.message_type()->full_name() == "google.protobuf.Timestamp";
  }

  // Returns whether T has the field's form: a struct, or a container of structs, for a field with a
  // message type, and no struct for any other field.
  template <typename T>
  static bool HasForm(const FieldDescriptor& field) {
    if constexpr (IsMap<T>::value) {
      return field.is_map();
    } else if constexpr (IsVector<T>::value) {
      return field.is_repeated() && HasForm<typename T::value_type>(field);
    } else if constexpr (IsOptional<T>::value) {
      return HasForm<typename T::value_type>(field);
    } else if constexpr (IsWritten<T>::value || planner::HasFields<T>) {
      return field.message_type() != nullptr;
    } else {
      return field.message_type() == nullptr || IsTime(field);
    }
  }

  template <typename T>
  void ExpectType(const FieldDescriptor& field) {
    if constexpr (IsWritten<T>::value) {
      ExpectType<typename IsWritten<T>::Value>(field);
    } else if constexpr (IsMap<T>::value) {
      ASSERT_TRUE(field.is_map()) << field.full_name();
      ExpectType<typename T::value_type::second_type>(*field.message_type()->map_value());
    } else if constexpr (IsVector<T>::value) {
      EXPECT_TRUE(field.is_repeated()) << field.full_name();
      ExpectType<typename T::value_type>(field);
    } else if constexpr (IsOptional<T>::value) {
      EXPECT_TRUE(field.has_presence()) << field.full_name();
      ExpectType<typename T::value_type>(field);
    } else if constexpr (planner::HasFields<T>) {
      ASSERT_NE(field.message_type(), nullptr) << field.full_name();
      NamesVisitor inner(*field.message_type(), other_forms_);
      T value{};
      VisitFields(value, inner);
      inner.ExpectAllVisited();
    } else if constexpr (std::is_same_v<T, std::string>) {
      // A name may be an enumerator's.
      const bool is_text = field.type() == FieldDescriptor::TYPE_STRING;
      EXPECT_TRUE(is_text || field.type() == FieldDescriptor::TYPE_ENUM || IsTime(field))
          << field.full_name();
    } else {
      EXPECT_EQ(field.cpp_type(), TypeOf<T>()) << field.full_name();
    }
  }

  template <typename T>
  static FieldDescriptor::CppType TypeOf() {
    if (std::is_same_v<T, bool>) return FieldDescriptor::CPPTYPE_BOOL;
    if (std::is_same_v<T, int32_t>) return FieldDescriptor::CPPTYPE_INT32;
    if (std::is_same_v<T, int64_t>) return FieldDescriptor::CPPTYPE_INT64;
    if (std::is_same_v<T, uint64_t>) return FieldDescriptor::CPPTYPE_UINT64;
    static_assert(std::is_arithmetic_v<T>);
    return FieldDescriptor::CPPTYPE_DOUBLE;
  }

  template <typename T>
  struct IsWritten : std::false_type {};
  template <typename T>
  struct IsWritten<planner::WrittenJson<T>> : std::true_type {
    using Value = T;
  };
  template <typename T>
  struct IsMap : std::false_type {};
  template <typename T>
  struct IsMap<planner::OrderedMap<T>> : std::true_type {};
  template <typename T>
  struct IsVector : std::false_type {};
  template <typename T>
  struct IsVector<std::vector<T>> : std::true_type {};
  template <typename T>
  struct IsOptional : std::false_type {};
  template <typename T>
  struct IsOptional<std::optional<T>> : std::true_type {};

  const google::protobuf::Descriptor& message_;
  std::set<std::string>* const other_forms_;
  std::set<std::string> visited_;
};

template <typename T, typename Message>
void ExpectSameFields(std::set<std::string>* other_forms = nullptr) {
  NamesVisitor visit(*Message::descriptor(), other_forms);
  T value{};
  VisitFields(value, visit);
  visit.ExpectAllVisited();
}

}  // namespace meshwright::wire

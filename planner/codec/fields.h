// Lets a struct that is stored or sent name its fields once, for every codec.
//
// Such a struct has a function template `VisitFields(value, visit)` in its own namespace, which
// calls `visit` for each field in the order of its text form:
//
//   template <planner::ConstOr<Cat> C, typename Visitor>
//   void VisitFields(C& cat, Visitor& visit) {
//     visit(Needed("lives"), cat.lives);
//     visit("mass_kg", cat.mass_kg);
//     // An enum, or an optional or a set of enumerators, by its names (base/text/enum_names.h).
//     visit("mood", cat.mood, kMoodNames);
//     // Any value that has a text form (TextForm).
//     visit("diet", cat.diet, kDietText);
//     // A derived value is written for programs that do not compute it themselves. Reading
//     // ignores it.
//     visit.Derived({"mass_g", "What it weighs, grams"}, cat.mass_kg * 1000);
//   }
//
// A field is described in one place, from which docs/schema is written. This place is the comment
// of the message's field or, if the message has no such field, the text beside the name, as for
// `mass_g`.
//
// A field is a bool, an int32_t, int64_t or uint64_t, a double, a std::string, or a struct with
// fields. It may also be an optional, a vector or a map of one of these. The keys of a map are
// texts; it is a std::map, or an OrderedMap if the order of the keys is part of the text. The
// field's name is its key in JSON (planner/codec/json_codec.h) and its name in a message
// (executor/wire/message_codec.h). Reading changes only the fields that the text or the message
// contains.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/text/enum_names.h"

namespace meshwright::planner {

// T is Struct when its fields are filled in from a text or a message, and const Struct when they
// are written to one.
template <typename T, typename Struct>
concept ConstOr = std::same_as<std::remove_const_t<T>, Struct>;

// A map from texts to values that keeps the order of its keys. No key occurs twice.
template <typename T>
using OrderedMap = std::vector<std::pair<std::string, T>>;

// A struct's text may be split into parts, each an object with some of the fields (WithParts()). A
// TextPart is one of them: the key of its object, and a sentence about the object.
struct TextPart {
  std::string_view name;
  std::string_view sentence;
};
// The parts of a split text that hold a field: one bit for each part, the lowest for the first
// part.
using TextParts = uint8_t;
inline constexpr TextParts kAllParts = 0xff;

// A field's name, its description, and properties of its JSON form. Messages use only the names and
// `only_text`.
struct Field {
  // NOLINTNEXTLINE(google-explicit-constructor): most fields are a name and nothing else
  constexpr Field(const char* field_name) : name(field_name) {}
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Field(std::string_view field_name) : name(field_name) {}
  constexpr Field(std::string_view field_name, std::string_view what)
      : name(field_name), sentence(what) {}

  std::string_view name;  // must live until the visitor returns
  // The field's description, with the unit, if no message has the field.
  std::string_view sentence = {};
  // The field's name in a message, if it differs from the key. Protobuf refuses "steps" beside
  // "step_s", for example, because it takes the two for the same name.
  std::string_view message_name = {};
  bool needed = false;     // whether reading fails if the field is absent
  bool present = true;     // whether there is something to write
  bool optional = false;   // `present` may be false
  bool or_null = false;    // written as null, not left out, if there is nothing to write
  bool as_list = false;    // of a struct: written as the list of its fields, without names
  bool inside = false;     // of a struct: its fields are keys of the object around it
  bool open = false;       // of a struct: keys that it does not know are ignored
  bool by_name = false;    // of a vector of structs: an object with their `name`s as keys
  bool closed = false;     // of a struct: no version will add keys to it
  bool only_text = false;  // only texts have the field, not messages
  bool only_wire = false;  // only messages have the field
  TextParts parts = kAllParts;
  // Of a struct whose text is split into parts: the parts, in order.
  std::span<const TextPart> text_parts = {};
  std::span<const std::string_view> among = {};    // of a text: all values that it may have
  std::optional<int64_t> at_least = std::nullopt;  // of a number: the least value
};

// Returns `field`; reading fails if it is absent.
constexpr Field Needed(Field field) {
  field.needed = true;
  return field;
}

// Returns `field`, with another name in its message.
constexpr Field InMessage(std::string_view message_name, Field field) {
  field.message_name = message_name;
  return field;
}

// Returns `field`, written only if `present`.
constexpr Field OnlyIf(bool present, Field field) {
  field.present = present;
  field.optional = true;
  return field;
}

// Returns `field`, written as null if it is an optional without a value.
constexpr Field OrNull(Field field) {
  field.or_null = true;
  return field;
}

// Returns `field`, written as null unless `present`.
constexpr Field NullUnless(bool present, Field field) { return OrNull(OnlyIf(present, field)); }

// Returns `field`, whose struct is written as the list of its fields. In a vector, each struct is
// written as such a list. Reading requires all of the fields.
constexpr Field AsList(Field field) {
  field.as_list = true;
  return field;
}

// Returns `field`, whose struct has its fields as keys of the object around it. An optional struct
// has a value if its first field is there.
constexpr Field Inside(Field field) {
  field.inside = true;
  return field;
}

// Returns `field`, whose struct may have keys that are not known. Unknown keys of this struct are
// ignored, even by a reader that refuses unknown keys elsewhere.
constexpr Field Open(Field field) {
  field.open = true;
  return field;
}

// Returns `field`, with the promise that no version will add keys to its struct.
constexpr Field Closed(Field field) {
  field.closed = true;
  return field;
}

// Returns `field`, whose struct's text is split into these parts.
constexpr Field WithParts(std::span<const TextPart> text_parts, Field field) {
  field.text_parts = text_parts;
  return field;
}

// Returns `field`, with its vector of structs written as a JSON object. A struct's key is its
// member `name`, which its VisitFields() leaves out.
constexpr Field ByName(Field field) {
  field.by_name = true;
  return field;
}

// Returns `field`, which messages leave out. Messages express the value in another way, or the
// program that prints the text knows the value by itself.
constexpr Field OnlyInText(Field field) {
  field.only_text = true;
  return field;
}

// Returns `field`, which only messages contain. A text expresses the value in another way, or
// contains it elsewhere.
constexpr Field OnlyOnWire(Field field) {
  field.only_wire = true;
  return field;
}

// Returns `field`, a text that is one of `names`. REQUIRES: `names` live until the visitor returns.
constexpr Field Among(std::span<const std::string_view> names, Field field) {
  field.among = names;
  return field;
}

// Returns `field`, a whole number that is at least `least`.
constexpr Field AtLeast(int64_t least, Field field) {
  field.at_least = least;
  return field;
}

// Returns `field`, restricted to these parts of a split text.
constexpr Field InParts(TextParts parts, Field field) {
  field.parts = parts;
  return field;
}

// Stands for the value of a field that only messages have, if the visited struct does not hold this
// value.
struct NoValue {};

// Describes a value that is written as the text `to_text(value)` and read by `parse(text)`, which
// returns an absl::StatusOr of the value.
template <typename ToText, typename Parse>
struct TextForm {
  ToText to_text;
  Parse parse;
};
template <typename ToText, typename Parse>
TextForm(ToText, Parse) -> TextForm<ToText, Parse>;

// Return the text of `value`. `names` or `form` determines this text.
template <typename T, size_t kCount>
std::string TextBy(const EnumNames<T, kCount>& names, const T& value) {
  return std::string(meshwright::NameOf(names, value));
}
template <typename ToText, typename Parse, typename T>
std::string TextBy(const TextForm<ToText, Parse>& form, const T& value) {
  return std::string(form.to_text(value));
}
// Return the value that `text` stands for under `names` or `form`. An error names the field as
// `path`.
template <typename T, size_t kCount>
absl::StatusOr<T> ParseBy(const EnumNames<T, kCount>& names, std::string_view path,
                          std::string_view text) {
  return KindOf(names, path, text);
}
template <typename ToText, typename Parse>
auto ParseBy(const TextForm<ToText, Parse>& form, std::string_view, std::string_view text) {
  return form.parse(text);
}

// A visitor that ignores every field.
struct NoVisitor {
  template <typename... Arguments>
  void operator()(const Field&, Arguments&&...) const {}
  template <typename Value>
  void Derived(const Field&, const Value&) const {}
};

template <typename T>
concept HasFields = requires(T& value, NoVisitor& visit) {
  VisitFields(value, visit);
};

}  // namespace meshwright::planner

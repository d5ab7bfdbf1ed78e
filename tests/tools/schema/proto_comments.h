// ProtoComments reads the comments on messages and their fields in proto/meshwright/v1.
#pragma once

#include <string>

#include "google/protobuf/descriptor.h"
#include "google/protobuf/descriptor_database.h"

namespace meshwright::cli {

// Reads a descriptor set that the build makes with source info, since the descriptors in generated
// code have no comments.
class ProtoComments {
 public:
  ProtoComments();

  // Both functions return the comment before the message or field in one line, without the full
  // stop at its end. The text is empty if there is no comment.
  std::string Of(const google::protobuf::Descriptor& message) const;
  std::string Of(const google::protobuf::FieldDescriptor& field) const;

 private:
  google::protobuf::SimpleDescriptorDatabase files_;
  google::protobuf::DescriptorPool pool_;
};

}  // namespace meshwright::cli

// PictureOrigin says what a picture shows, when it was drawn, and how it is drawn again. Every
// picture prints the first two in its last lines, and has all three in its metadata, so that a
// picture that was mailed or pasted can be traced to its question.
#pragma once

#include <string>

namespace meshwright::planner {

struct PictureOrigin {
  std::string question;  // model, cluster and batch, such as of QuestionText()
  std::string date;      // YYYY-MM-DD
  std::string command;   // the command line, or the call of a server, that draws it
};

}  // namespace meshwright::planner

#include "planner/drawing/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace meshwright::planner {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const PictureOrigin kOrigin = {.question = "llama-3-8b on 8 x h100",
                               .date = "2026-01-02",
                               .command = "meshwright scale --where 'tp < 4'"};

TEST(Svg, APictureHasItsOriginInItsLastLineAndInItsMetadata) {
  const std::string svg = OpenSvg(400.0, 100.0, "a label", kOrigin);
  EXPECT_THAT(svg, AllOf(HasSubstr(">Meshwright, 2026-01-02: llama-3-8b on 8 x h100</text>"),
                         HasSubstr("<dc:date>2026-01-02</dc:date>"),
                         HasSubstr("<dc:subject>llama-3-8b on 8 x h100</dc:subject>"),
                         HasSubstr("<dc:source>meshwright scale --where 'tp &lt; 4'</dc:source>")));
}

TEST(Svg, ALongQuestionTakesSeveralLinesBelowThePicture) {
  PictureOrigin origin = kOrigin;
  origin.question = "a model on a cluster with many words that do not fit on one line of a picture";
  const std::string svg = OpenSvg(200.0, 100.0, "a label", origin);
  EXPECT_THAT(svg, AllOf(HasSubstr("width=\"200\""), Not(HasSubstr("height=\"123\""))));
  EXPECT_THAT(svg, HasSubstr("y=\"112\">Meshwright, 2026-01-02: a</text>"));
}

TEST(Svg, TextCannotEndAnAttributeOrAnElement) {
  EXPECT_EQ(SvgEscape("a<b>&\"c\"\n"), "a&lt;b&gt;&amp;&quot;c&quot; ");
}

TEST(Svg, BytesThatAreNoUtf8DoNotReachThePicture) {
  const std::string escaped = SvgEscape("mod\xe8le");
  EXPECT_EQ(escaped.find('\xe8'), std::string::npos);
  EXPECT_THAT(escaped, HasSubstr("mod"));
}

TEST(Svg, LinesEndBetweenWords) {
  EXPECT_THAT(SvgLines("", 100.0), IsEmpty());
  EXPECT_THAT(SvgLines("one two three", 60.0), ElementsAre("one two", "three"));
  EXPECT_THAT(SvgLines("a verylongword b", 20.0), ElementsAre("a", "verylongword", "b"));
}

}  // namespace
}  // namespace meshwright::planner

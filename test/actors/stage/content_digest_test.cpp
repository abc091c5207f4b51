#include "actors/stage/content_digest.hpp"

#include <gtest/gtest.h>
#include <set>

namespace omni {
namespace {

TEST(content_digest, differs_for_whatever_can_be_heard_or_seen) {
  media_input picture;
  picture.what = media_input::kind::image;
  picture.rgb = {1, 2, 3, 4, 5, 6};
  picture.height = 1;
  picture.width = 2;
  EXPECT_EQ(digest_of(picture), digest_of(media_input(picture)));
  std::set<std::array<std::int32_t, 8>> digests{digest_of(picture)};
  auto other = picture;
  other.rgb.back() = 7;
  digests.insert(digest_of(other));
  other = picture;
  std::swap(other.height, other.width);
  digests.insert(digest_of(other));
  other = picture;
  other.what = media_input::kind::video;
  digests.insert(digest_of(other));
  other.frames_per_second = 2;
  digests.insert(digest_of(other));
  media_input sound;
  sound.samples = {0.5F};
  digests.insert(digest_of(sound));
  sound.samples = {-0.5F};
  digests.insert(digest_of(sound));
  EXPECT_EQ(digests.size(), 7u);
}

} // namespace
} // namespace omni

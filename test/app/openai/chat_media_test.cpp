#include "app/media/base64.hpp"
#include "app/openai/chat_prompt.hpp"
#include "app/openai/chat_request.hpp"
#include "kernels/text/chat_template.hpp"
#include "kernels/text/tokenizer.hpp"
#include "test/app/support/media_files.hpp"
#include "test/app/support/sample_pipeline.hpp"
#include "test/support/fake_runner.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sndfile.h>

namespace omni::openai {
namespace {

using kind = media_input::kind;

const std::string parted_template =
    "{% for m in messages %}{{ m.role }}: {% if m.content is string %}{{ m.content }}{% else %}{% for p in m.content %}"
    "{% if p.type == 'text' %}{{ p.text }}{% else %}[{{ p.type }}\x01]{% endif %}{% endfor %}{% endif %}\n{% endfor %}";

std::shared_ptr<const stage_model> thinker(bool takes_media) {
  test::fake_options options;
  options.takes_media = takes_media;
  return test::fake_stage_model("thinker", options);
}

/// Requests to a model that hears and sees.
class chat_media : public ::testing::Test {
protected:
  [[nodiscard]] expected<chat_request> read(const json& body) const {
    auto facts = test::sample_pipeline();
    facts->text_model = model.get();
    facts->chat_template =
        std::make_shared<const text::chat_template>(text::chat_template::parse(source, "the template"));
    return read_chat(body, facts, media::reader{{}}, false);
  }
  [[nodiscard]] expected<chat_request> read_parts(const json& parts) const {
    return read({{"messages", {{{"role", "user"}, {"content", parts}}}}});
  }

  std::shared_ptr<const stage_model> model = thinker(true);
  std::string source = parted_template;
};

json url_part(const std::string& type, const std::string& mime, const std::string& file) {
  return {{"type", type}, {type, {{"url", "data:" + mime + ";base64," + media::to_base64(file)}}}};
}
json picture_part() { return url_part("image_url", "image/png", test::png_file(test::plain_picture(2, 3, 7), 2, 3)); }
std::string sound() { return test::sound_file({0.5F, 0.25F, 0}, 16'000, 1, SF_FORMAT_WAV | SF_FORMAT_FLOAT); }
json sound_part() {
  return {{"type", "input_audio"}, {"input_audio", {{"data", media::to_base64(sound())}, {"format", "wav"}}}};
}
json text_part(const std::string& text) { return {{"type", "text"}, {"text", text}}; }

TEST_F(chat_media, stand_in_their_places_in_order) {
  const auto got = read_parts(
      {text_part("see"), picture_part(), text_part("hear"), sound_part(), url_part("audio_url", "audio/wav", sound())});
  ASSERT_TRUE(got) << got.error().message;
  const std::string places(4, '\x01'); // three samples and a frame
  EXPECT_EQ(got->pipeline->tokenizer->decode(got->work.prompt, false),
            "user: see[image\x01]hear[audio" + places + "][audio" + places + "]");
  ASSERT_EQ(got->work.media.size(), 3U);
  EXPECT_EQ(got->work.media[0].what->what, kind::image);
  EXPECT_EQ(got->work.media[1].what->what, kind::audio);
  EXPECT_EQ(got->work.media[1].what->samples, (std::vector<float>{0.5F, 0.25F, 0}));
  EXPECT_LT(got->work.media[0].begin, got->work.media[1].begin);
  for (const auto& each : got->work.media) EXPECT_EQ(got->work.prompt[std::size_t(each.begin)], test::fake_medium);
}

TEST_F(chat_media, videos_and_fields_without_meaning_here) {
  const std::string frame = test::jpeg_file(test::plain_picture(8, 8, 100), 8, 8);
  json video = url_part("video_url", "video/jpeg", frame);
  video["uuid"] = "x";
  json picture = picture_part();
  picture["image_url"]["detail"] = "high";
  const auto got = read_parts({video, picture});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->work.media.at(0).what->what, kind::video);
}

TEST_F(chat_media, text_alone_brings_none) {
  const auto got = read_parts({text_part("a"), text_part("b")});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_TRUE(got->work.media.empty());
  EXPECT_EQ(got->pipeline->tokenizer->decode(got->work.prompt, false), "user: ab");
}

struct bad_part {
  json part;
  std::string param;
};
class bad_media : public chat_media, public ::testing::WithParamInterface<bad_part> {};

TEST_P(bad_media, are_refused_by_name) {
  const auto got = read_parts({text_part("x"), GetParam().part});
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::invalid_request);
  EXPECT_EQ(got.error().param, "messages[0].content[1]." + GetParam().param);
  EXPECT_TRUE(got.error().message.starts_with("messages[0].content[1].")) << got.error().message;
  EXPECT_TRUE(got.error().message.ends_with('.')) << got.error().message;
}

INSTANTIATE_TEST_SUITE_P(
    each, bad_media,
    ::testing::Values(
        bad_part{{{"type", "image"}}, "type"}, bad_part{{{"type", 5}}, "type"}, bad_part{json::object(), "type"},
        bad_part{{{"type", "image_url"}}, "image_url"},
        bad_part{{{"type", "image_url"}, {"image_url", "x"}}, "image_url"},
        bad_part{{{"type", "image_url"}, {"image_url", json::object()}}, "image_url.url"},
        bad_part{{{"type", "image_url"}, {"image_url", {{"url", 5}}}}, "image_url.url"},
        bad_part{{{"type", "image_url"}, {"image_url", {{"url", ""}}}}, "image_url.url"},
        bad_part{{{"type", "image_url"}, {"image_url", {{"url", "https://example.com/x.png"}}}}, "image_url"},
        bad_part{{{"type", "image_url"}, {"image_url", {{"url", "file:///etc/passwd"}}}}, "image_url"},
        bad_part{url_part("image_url", "image/png", sound()), "image_url"},
        bad_part{url_part("audio_url", "audio/wav", "nothing"), "audio_url"},
        bad_part{url_part("video_url", "video/mp4", "nothing"), "video_url"},
        bad_part{{{"type", "input_audio"}, {"input_audio", {{"format", "wav"}}}}, "input_audio.data"},
        bad_part{{{"type", "input_audio"}, {"input_audio", {{"data", "!!!"}}}}, "input_audio"},
        bad_part{{{"type", "input_audio"}, {"input_audio", {{"data", "AAAA"}, {"format", 5}}}}, "input_audio.format"}));

TEST_F(chat_media, a_model_that_reads_only_text_says_so) {
  model = thinker(false);
  const auto got = read_parts(json::array({picture_part()}));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().param, "messages[0].content[0].type");
  EXPECT_NE(got.error().message.find("leave sounds, pictures and videos out"), std::string::npos);
}

TEST_F(chat_media, a_template_without_places_is_told) {
  source = "{% for m in messages %}{{ m.content + '' }}{% endfor %}";
  const auto got = read_parts(json::array({picture_part()}));
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("--chat-template"), std::string::npos);
}

TEST_F(chat_media, a_message_that_ends_with_one_cannot_be_continued) {
  for (const json& parts : {json{text_part("x"), picture_part()}, json::array()}) {
    const auto got = read({{"messages", {{{"role", "user"}, {"content", parts}}}}, {"continue_final_message", true}});
    ASSERT_FALSE(got);
    EXPECT_EQ(got.error().param, "continue_final_message");
  }
}

TEST(brings_media, looks_at_types_only) {
  EXPECT_TRUE(brings_media({{"messages", {{{"content", {text_part("x"), {{"type", "video_url"}}}}}}}}));
  for (const json& body : {json::object(), json{{"messages", 5}}, json{{"messages", {5}}},
                           json{{"messages", {{{"content", "video_url"}}}}},
                           json{{"messages", {{{"content", {5, {{"type", 5}}, text_part("video_url")}}}}}}})
    EXPECT_FALSE(brings_media(body)) << body;
}

} // namespace
} // namespace omni::openai

#include "test/app/support/sample_pipeline.hpp"

#include "kernels/text/chat_template.hpp"
#include "test/support/fake_runner.hpp"

#include <cstring>
#include <stdexcept>

namespace omni::test {

std::shared_ptr<openai::pipeline_facts> sample_pipeline() {
  auto facts = std::make_shared<openai::pipeline_facts>();
  facts->text_stage = facts->text_output = stage_id{0};
  facts->audio_output = stage_id{2};
  facts->stage_names = {"thinker", "talker", "code2wav"};
  facts->stage_sampling.resize(3);
  facts->tokenizer = &fake_tokenizer();
  facts->chat_template = std::make_shared<const text::chat_template>(
      text::chat_template::parse("{% for m in messages %}{{ m.role }}: {{ m.content }}\n{% endfor %}{% if tools "
                                 "%}tools: {{ tools | length }}\n{% endif %}"
                                 "{% if add_generation_prompt %}assistant: {% endif %}{{ mood }}",
                                 "the sample template"));
  facts->vocab_size = fake_vocabulary;
  facts->max_model_len = 128;
  facts->max_prompt_bytes = 128 * 16;
  facts->speakers = {"ann", "Bob"};
  facts->sample_rate = 8000;
  facts->frames_per_second = 100;
  return facts;
}

std::shared_ptr<const payload> sound_of(const std::vector<float>& samples, std::int32_t sample_rate) {
  auto sound = std::make_shared<payload>();
  sound->what = payload::kind::samples;
  sound->bytes.resize(samples.size() * sizeof(float));
  std::memcpy(sound->bytes.data(), samples.data(), sound->bytes.size());
  sound->rows = std::int64_t(samples.size());
  sound->width = 1;
  sound->sample_rate = sample_rate;
  return sound;
}

std::string from_base64(const std::string& text) {
  static const std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int held = 0;
  const std::size_t end = text.find('=');
  if (text.size() % 4 != 0 || (end != std::string::npos && end + 2 < text.size()))
    throw std::invalid_argument("padding");
  for (const char c : text.substr(0, end)) {
    const std::size_t value = alphabet.find(c);
    if (value == std::string::npos) throw std::invalid_argument("not base64");
    bits = bits << 6U | std::uint32_t(value);
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out.push_back(char(bits >> unsigned(held) & 255U));
  }
  return out;
}

} // namespace omni::test

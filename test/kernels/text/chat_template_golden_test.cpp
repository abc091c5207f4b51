#include "kernels/core/error.hpp"
#include "kernels/text/chat_template.hpp"
#include "test/support/golden.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace omni::text {
namespace {

using json = nlohmann::ordered_json;

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return all.str();
}

/// The variables that a case is rendered with.
json variables_of(const json& golden, const json& entry) {
  json variables = golden.at("variables");
  variables["messages"] = entry.at("messages");
  variables["tools"] = entry.at("tools");
  variables["add_generation_prompt"] = entry.at("add_generation_prompt");
  for (const auto& [name, of] : entry.at("extra").items()) variables[name] = of;
  return variables;
}

TEST(chat_template, golden_renders_as_the_reference) {
  for (const auto& file : test::golden_files("chat", ".json")) {
    const json golden = json::parse(contents_of(file));
    const auto source = file.parent_path() / golden.at("template").get<std::string>();
    const chat_template parsed = chat_template::parse(contents_of(source), source.string());
    ASSERT_FALSE(golden.at("cases").empty());
    for (const json& entry : golden.at("cases")) {
      SCOPED_TRACE(file.filename().string() + " " + entry.at("name").get<std::string>() + " " +
                   entry.at("add_generation_prompt").dump());
      const json variables = variables_of(golden, entry);
      if (entry.contains("error")) {
        EXPECT_THROW(static_cast<void>(parsed.render(variables)), input_error);
      } else {
        EXPECT_EQ(parsed.render(variables).text(), entry.at("rendered").get<std::string>());
      }
    }
  }
}

TEST(chat_template, golden_refusals_say_what_the_template_says) {
  for (const auto& file : test::golden_files("chat", ".json")) {
    const json golden = json::parse(contents_of(file));
    const auto source = file.parent_path() / golden.at("template").get<std::string>();
    const chat_template parsed = chat_template::parse(contents_of(source), source.string());
    for (const json& entry : golden.at("cases")) {
      if (!entry.value("raised_by_template", false)) continue;
      SCOPED_TRACE(file.filename().string() + " " + entry.at("name").get<std::string>());
      try {
        static_cast<void>(parsed.render(variables_of(golden, entry)));
        ADD_FAILURE() << "expected a refusal";
      } catch (const input_error& error) {
        EXPECT_EQ(error.param, "messages");
        const auto wanted = entry.at("error").get<std::string>();
        EXPECT_NE(std::string(error.what()).find(wanted.substr(wanted.find(": ") + 2)), std::string::npos)
            << error.what();
      }
    }
  }
}

} // namespace
} // namespace omni::text

#include "app/media/reader.hpp"

#include "app/http/server.hpp"
#include "app/media/base64.hpp"
#include "test/app/support/media_files.hpp"

#include <arpa/inet.h>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <unistd.h>

namespace omni::media {
namespace {

namespace fs = std::filesystem;
using kind = media_input::kind;

const std::atomic<bool> going{false};

std::string picture(std::uint8_t grey = 50) { return test::png_file(test::plain_picture(4, 6, grey), 4, 6); }
std::string data_url(const std::string& bytes, const std::string& type = "image/png") {
  return "data:" + type + ";base64," + to_base64(bytes);
}
source from_url(std::string url, kind what = kind::image) { return {what, std::move(url), {}, "the field"}; }

/// What is wrong with one source; empty if nothing is.
std::string problem_of(const reader& by, source from) {
  const auto got = by.read({std::move(from)}, going);
  if (got) return {};
  EXPECT_EQ(got.error().field, "the field");
  return got.error().what;
}

TEST(base64, only_the_standard_form_is_read) {
  EXPECT_EQ(from_base64(""), "");
  EXPECT_EQ(from_base64("TWFu"), "Man");
  EXPECT_EQ(from_base64("TWE="), "Ma");
  EXPECT_EQ(from_base64("TQ=="), "M");
  EXPECT_EQ(from_base64("TQ"), "M");
  for (const char* text : {"T", "TWF", "TW=u", "TWE=TWE=", "TW\nFu", "TW-_", "====", "=", "TWFu=", " TWFu"})
    EXPECT_EQ(from_base64(text).has_value(), std::string(text) == "TWF") << text;
}

TEST(media_reader, data_urls_and_base64_are_decoded_in_order) {
  const reader by{{}};
  const std::string wav = test::sound_file({0.5F, -0.5F}, 16'000, 1, 0x010006); // WAV, float
  const auto got =
      by.read({from_url(data_url(picture(1))),
               {kind::audio, {}, to_base64(wav), "sound"},
               from_url("DATA:audio/wav;x=y;base64," + to_base64(wav), kind::audio),
               from_url(data_url(test::jpeg_file(test::plain_picture(8, 8, 9), 8, 8), "video/jpeg"), kind::video)},
              going);
  ASSERT_TRUE(got) << got.error().what;
  ASSERT_EQ(got->size(), 4U);
  EXPECT_EQ((*got)[0]->rgb.front(), 1);
  EXPECT_EQ((*got)[1]->samples, (std::vector<float>{0.5F, -0.5F}));
  EXPECT_EQ((*got)[2]->samples, (*got)[1]->samples);
  EXPECT_EQ((*got)[3]->what, kind::video);
}

TEST(media_reader, bad_sources_are_refused_by_field) {
  const reader by{{}};
  for (const char* url :
       {"", "x", "data:", "data:image/png,abc", "data:image/png;base64,", "data:image/png;base64,%%%%",
        "data:image/png;base64,AAAA", "ftp://example.com/x", "file:///etc/passwd", "http://example.com/x.png",
        "https://example.com/x.png", "javascript:alert(1)"}) {
    const std::string what = problem_of(by, from_url(url));
    EXPECT_FALSE(what.empty()) << url;
    EXPECT_FALSE(what.ends_with('.')) << what;
  }
}

TEST(media_reader, limits_hold) {
  settings with;
  with.bounds.media_per_request = 2;
  with.bounds.medium_bytes = picture().size() - 1;
  EXPECT_NE(problem_of(reader{with}, from_url(data_url(picture()))).find("more than"), std::string::npos);
  with.bounds.medium_bytes = 1'000;
  const auto many = reader{with}.read(std::vector<source>(3, from_url(data_url(picture()))), going);
  ASSERT_FALSE(many);
  EXPECT_FALSE(many.error().busy);
  with.bounds.decoded_bytes = 2 * 4 * 6 * 3 - 1; // two pictures have one byte more
  EXPECT_TRUE(reader{with}.read({from_url(data_url(picture()))}, going));
  EXPECT_FALSE(reader{with}.read(std::vector<source>(2, from_url(data_url(picture()))), going));
  EXPECT_FALSE(reader{with}.read({from_url(data_url(picture()))}, true));
}

TEST(media_reader, media_in_use_by_all_requests_are_bounded) {
  settings with;
  with.bounds.decoded_bytes_in_all = 2 * 4 * 6 * 3 - 1;
  const reader by{with};
  auto first = by.read({from_url(data_url(picture()))}, going);
  ASSERT_TRUE(first);
  const auto second = by.read({from_url(data_url(picture()))}, going);
  ASSERT_FALSE(second);
  EXPECT_TRUE(second.error().busy);
  first->clear();
  EXPECT_TRUE(by.read({from_url(data_url(picture()))}, going));
}

/// A folder with a picture, beside one that must not be read.
class local_files : public ::testing::Test {
protected:
  local_files() {
    fs::create_directories(root / "allowed" / "inside");
    fs::create_directories(root / "allowed-not");
    for (const char* name : {"allowed/a b.png", "allowed/inside/c.png", "allowed-not/secret.png"})
      std::ofstream(root / name, std::ios::binary) << picture();
    fs::create_symlink(root / "allowed-not" / "secret.png", root / "allowed" / "link.png");
    fs::create_symlink(root / "allowed-not", root / "allowed" / "folder");
    fs::create_symlink(root / "allowed" / "inside" / "c.png", root / "allowed" / "good.png");
  }
  ~local_files() override { fs::remove_all(root); }

  [[nodiscard]] std::string problem(const std::string& path) const {
    settings with;
    with.local_root = root / "allowed";
    with.bounds.medium_bytes = most_bytes;
    return problem_of(reader{with}, from_url("file://" + path));
  }

  fs::path root = fs::canonical(fs::temp_directory_path()) / ("omni-media-" + std::to_string(::getpid()));
  std::size_t most_bytes = 1'000'000;
};

TEST_F(local_files, below_the_folder_are_read) {
  const std::string allowed = (root / "allowed").string();
  EXPECT_EQ(problem(allowed + "/a%20b.png"), "");
  EXPECT_EQ(problem(allowed + "/a b.png"), "");
  EXPECT_EQ(problem("localhost" + allowed + "/inside/../inside/c.png"), "");
  EXPECT_EQ(problem(allowed + "/good.png"), "");
  most_bytes = 10;
  EXPECT_NE(problem(allowed + "/good.png").find("more than"), std::string::npos);
}

TEST_F(local_files, outside_are_as_good_as_not_there) {
  const std::string allowed = (root / "allowed").string();
  const std::string missing = problem(allowed + "/missing.png");
  EXPECT_FALSE(missing.empty());
  for (const std::string& path :
       {allowed + "/../allowed-not/secret.png", (root / "allowed-not/secret.png").string(), allowed + "/link.png",
        allowed + "/folder/secret.png", allowed + "/%2e%2e/allowed-not/secret.png", allowed, allowed + "/inside",
        std::string("/etc/passwd"), std::string("/dev/zero")})
    EXPECT_EQ(problem(path), missing) << path;
  for (const char* path : {"", "relative.png", "otherhost/etc/passwd", "/x%00.png", "/x%zz", "/x%4"})
    EXPECT_FALSE(problem(path).empty()) << path;
}

sockaddr_storage address(const char* text) {
  sockaddr_storage out{};
  auto* v4 = reinterpret_cast<sockaddr_in*>(&out);
  auto* v6 = reinterpret_cast<sockaddr_in6*>(&out);
  if (::inet_pton(AF_INET, text, &v4->sin_addr) == 1)
    out.ss_family = AF_INET;
  else if (::inet_pton(AF_INET6, text, &v6->sin6_addr) == 1)
    out.ss_family = AF_INET6;
  return out;
}

bool is_public(const char* text) {
  const auto at = address(text);
  return is_public_address(reinterpret_cast<const sockaddr&>(at));
}

TEST(public_addresses, are_told_from_all_others) {
  for (const char* good : {"8.8.8.8", "1.1.1.1", "172.15.255.255", "172.32.0.0", "100.63.0.1", "100.128.0.1",
                           "11.0.0.1", "223.255.255.255", "2606:4700::1111", "2a00:1450::1"})
    EXPECT_TRUE(is_public(good)) << good;
  for (const char* bad :
       {"0.0.0.0",         "10.1.2.3",        "100.64.0.1",  "127.0.0.1",     "127.255.255.255",  "169.254.169.254",
        "172.16.0.1",      "172.31.255.255",  "192.168.1.1", "192.0.0.1",     "198.18.0.1",       "198.19.255.255",
        "224.0.0.1",       "255.255.255.255", "::",          "::1",           "::ffff:127.0.0.1", "::ffff:8.8.8.8",
        "64:ff9b::7f00:1", "fe80::1",         "fc00::1",     "fd00:ec2::254", "ff02::1",          "2001::1",
        "2001:db8::1",     "2002:7f00:1::",   "3fff::1"})
    EXPECT_FALSE(is_public(bad)) << bad;
  sockaddr_storage other{};
  other.ss_family = AF_UNIX;
  EXPECT_FALSE(is_public_address(reinterpret_cast<const sockaddr&>(other)));
}

/// A web server on the loopback, of which 127.0.0.1 counts as public and 127.0.0.2 does not.
class remote_media : public ::testing::Test {
protected:
  remote_media() {
    http::server_options options;
    options.host = "0.0.0.0";
    options.port = 0;
    options.error_page = [](int status, std::string_view sentence) {
      return http::response{.status = status, .content_type = "text/plain", .body = std::string(sentence)};
    };
    options.log = [](std::string_view) {};
    http::router routes;
    const auto answer = [&routes](const std::string& path, http::response what) {
      routes.add("GET", path,
                 [what](const http::request&, const std::shared_ptr<http::responder>& to) { to->send(what); });
    };
    const auto redirect = [&](const std::string& path, const std::string& to) {
      answer(path, {.status = 302, .headers = {{"Location", to}}});
    };
    answer("/picture.png", {.body = picture()});
    answer("/secret.png", {.body = picture()});
    redirect("/good", "/picture.png");
    redirect("/loop", "/loop");
    redirect("/to-file", "file:///etc/passwd");
    routes.add("GET", "/private", [this](const http::request&, const std::shared_ptr<http::responder>& to) {
      to->send({.status = 302, .headers = {{"Location", "http://127.0.0.2:" + port() + "/secret.png"}}});
    });
    auto made = http::server::listen(options, routes);
    if (!made) throw std::runtime_error(made.error().message);
    server = std::move(*made);
    with.remote = true;
    with.allowed_address = [](const sockaddr& at) {
      sockaddr_in v4;
      std::memcpy(&v4, &at, sizeof v4);
      return v4.sin_addr.s_addr == htonl(0x7F000001);
    };
  }
  [[nodiscard]] std::string port() const { return std::to_string(server->port()); }
  [[nodiscard]] std::string problem(const std::string& path, const std::string& host = "127.0.0.1") const {
    return problem_of(reader{with}, from_url("http://" + host + ":" + port() + path));
  }

  settings with;
  std::unique_ptr<http::server> server;
};

TEST_F(remote_media, are_fetched) {
  EXPECT_EQ(problem("/picture.png"), "");
  EXPECT_EQ(problem("/good"), "");
}

TEST_F(remote_media, private_addresses_are_refused_however_they_are_reached) {
  for (const std::string& what : {problem("/secret.png", "127.0.0.2"), problem("/private")})
    EXPECT_NE(what.find("public Internet"), std::string::npos) << what;
  with.allowed_address = is_public_address;
  for (const char* host : {"127.0.0.1", "localhost", "2130706433", "0x7f000001", "127.1"})
    EXPECT_NE(problem("/picture.png", host).find("public Internet"), std::string::npos) << host;
}

TEST_F(remote_media, bad_answers_are_refused) {
  EXPECT_NE(problem("/missing.png").find("answered 404"), std::string::npos);
  EXPECT_FALSE(problem("/loop").empty());
  EXPECT_FALSE(problem("/to-file").empty());
  with.bounds.medium_bytes = picture().size() - 1;
  EXPECT_NE(problem("/picture.png").find("leads to more than"), std::string::npos);
  with.bounds.medium_bytes = 1'000'000;
  EXPECT_FALSE(reader{with}.read({from_url("http://127.0.0.1:" + port() + "/picture.png")}, true));
}

} // namespace
} // namespace omni::media

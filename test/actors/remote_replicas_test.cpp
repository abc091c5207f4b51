#include "actors/net/replica_process.hpp"
#include "test/support/engine_answers.hpp"
#include "test/support/fake_runner.hpp"
#include "test/support/recording_sink.hpp"

#include <arpa/inet.h>
#include <atomic>
#include <condition_variable>
#include <future>
#include <gmock/gmock.h>
#include <mutex>
#include <sys/socket.h>
#include <unistd.h>

namespace omni::test {
namespace {

using testing::HasSubstr;

/// Something that another thread makes true.
class event {
public:
  void tell(const std::string& what) {
    const std::lock_guard lock(mutex_);
    heard_.push_back(what);
    changed_.notify_all();
  }
  /// Waits until something with `part` in it was told. ctest's timeout is the deadline.
  std::string wait_for(const std::string& part) {
    std::unique_lock lock(mutex_);
    std::string found;
    changed_.wait(lock, [&] {
      for (const auto& one : heard_)
        if (one.find(part) != std::string::npos) found = one;
      return !found.empty();
    });
    return found;
  }
  void forget() {
    const std::lock_guard lock(mutex_);
    heard_.clear();
  }

private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::string> heard_;
};

/// A head and processes of replicas of a fake pipeline, as real as it gets within one program: own actor systems that
/// speak over the loopback.
class remote_replicas : public testing::Test {
protected:
  remote_replicas() {
    const char* names[] = {"thinker", "talker", "code2wav"};
    for (std::int32_t at = 0; at < 3; ++at) {
      auto& stage = config.stages.emplace_back();
      stage.id = {at};
      stage.model_stage = stage.model = names[at];
      stage.num_replicas = 0;
    }
    config.stages[0].final_output_type = modality::text;
    config.stages[2].final_output_type = modality::audio;
    config.network.emplace();
  }

  void start_head() {
    auto made = engine::start(config, fake_loader(options));
    ASSERT_TRUE(made) << made.error().message;
    head = std::move(*made);
    config.network->port = head->join_port();
  }

  struct process {
    event told;
    event ended;
    std::unique_ptr<replica_process> running;
  };
  std::shared_ptr<process> join(int stage, std::optional<int> wanted = {}, int replicas = 1) {
    auto made = std::make_shared<process>();
    replica_process_options how;
    how.stage = {stage};
    how.replicas = replicas;
    if (wanted) how.wanted = replica_id{*wanted};
    how.head = *config.network;
    how.version = "test";
    how.tell = [p = made.get()](const std::string& what) { p->told.tell(what); };
    how.ended = [p = made.get()](net::host_end end, const std::string& why) {
      p->ended.tell((end == net::host_end::left      ? "left: "
                     : end == net::host_end::refused ? "refused: "
                                                     : "failed: ") +
                    why);
    };
    auto process_or_problem = replica_process::start(config, std::move(how), fake_loader(options));
    EXPECT_TRUE(process_or_problem) << process_or_problem.error().message;
    made->running = std::move(*process_or_problem);
    return made;
  }
  std::shared_ptr<process> join_and_wait(int stage, std::optional<int> wanted = {}, int replicas = 1) {
    auto made = join(stage, wanted, replicas);
    made->told.wait_for("serves the head");
    return made;
  }

  std::shared_ptr<recording_sink> submit(std::string_view prompt, bool audio, int max_tokens = 12) {
    request what;
    what.prompt = fake_tokens(prompt);
    what.want_audio = audio;
    what.sampling.temperature = 0;
    what.sampling.ignore_eos = true;
    what.sampling.max_tokens = max_tokens;
    auto heard = std::make_shared<recording_sink>();
    EXPECT_TRUE(head->submit(std::move(what), heard));
    return heard;
  }
  static std::string answer(std::string_view prompt, std::size_t count) {
    sampling_params greedy;
    greedy.temperature = 0;
    greedy.ignore_eos = true;
    greedy.seed = 0;
    return fake_tokenizer().decode(expected_tokens(fake_tokens(prompt), count, greedy), true);
  }
  std::vector<replica_status> list() { return replicas_of(*head); }

  engine_config config;
  fake_options options;
  std::unique_ptr<engine> head;
};

TEST_F(remote_replicas, a_request_that_waits_is_answered_by_a_process_that_joins) {
  start_head();
  const auto one = submit("hello", false);
  const auto there = join(0);
  one->wait_for_end();
  EXPECT_EQ(one->text(), answer("hello", 12));
  EXPECT_FALSE(one->problem());
  const auto lines = list();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].address, "127.0.0.1");
  EXPECT_EQ(lines[0].state, replica_state::serving);
  EXPECT_NE(lines[0].fingerprint, 0u);
}

TEST_F(remote_replicas, each_stage_in_a_process_of_its_own_gives_the_same_text_and_sound) {
  start_head();
  const auto thinker = join_and_wait(0);
  const auto talker = join_and_wait(1);
  const auto vocoder = join_and_wait(2);
  std::vector<std::shared_ptr<recording_sink>> all;
  for (int i = 0; i < 8; ++i) all.push_back(submit("prompt " + std::to_string(i), true, 30));
  for (int i = 0; i < 8; ++i) {
    all[std::size_t(i)]->wait_for_end();
    const auto said = answer("prompt " + std::to_string(i), 30);
    EXPECT_EQ(all[std::size_t(i)]->text(), said);
    EXPECT_EQ(all[std::size_t(i)]->sound(), expected_sound(said, options));
  }
}

TEST_F(remote_replicas, the_process_that_had_the_same_beginning_gets_the_next_request) {
  config.stages[0].block_size = options.block_size;
  start_head();
  std::atomic<int> steps[2]{};
  std::vector<std::shared_ptr<process>> both;
  for (int replica = 0; replica < 2; ++replica) {
    options.before_step = [&steps, replica](const fake_step&) { ++steps[replica]; };
    both.push_back(join_and_wait(0, replica));
  }
  for (int i = 0; i < 3; ++i) submit("once upon a time " + std::to_string(i), false)->wait_for_end();
  EXPECT_GT(steps[0], 0);
  EXPECT_EQ(steps[1], 0);
  submit("a different beginning", false)->wait_for_end();
  EXPECT_GT(steps[1], 0);
}

TEST_F(remote_replicas, a_stage_between_two_of_the_head_works_elsewhere) {
  config.stages[0].num_replicas = 1;
  config.stages[2].num_replicas = 1;
  start_head();
  config.stages[1].num_replicas = 0;
  const auto talker = join_and_wait(1);
  const auto one = submit("hello", true, 30);
  one->wait_for_end();
  EXPECT_EQ(one->sound(), expected_sound(answer("hello", 30), options));
}

TEST_F(remote_replicas, sound_larger_than_one_part_and_than_the_window_comes_over_whole) {
  options.samples_per_row = 100'000; // 400 kB a row
  start_head();
  const auto thinker = join_and_wait(0);
  const auto talker = join_and_wait(1);
  const auto vocoder = join_and_wait(2);
  const auto one = submit("hello", true, 16);
  one->wait_for_end();
  EXPECT_GT(one->sound().size() * sizeof(float), net::credit_window);
  EXPECT_EQ(one->sound(), expected_sound(answer("hello", 16), options));
}

TEST_F(remote_replicas, ids_may_be_sparse_and_several_replicas_live_in_one_process) {
  start_head();
  const auto sparse = join_and_wait(0, 7);
  const auto two = join(0, std::nullopt, 2);
  two->told.wait_for("Replica 1 of stage 0 serves");
  std::vector<int> ids;
  for (const auto& line : list()) ids.push_back(line.replica.value);
  EXPECT_EQ(ids, (std::vector<int>{0, 1, 7}));
}

TEST_F(remote_replicas, a_taken_id_is_refused_in_a_sentence) {
  start_head();
  const auto first = join_and_wait(0, 3);
  const auto second = join(0, 3);
  EXPECT_THAT(second->ended.wait_for("refused"), HasSubstr("The id of replica 3 of stage 0 is taken"));
}

TEST_F(remote_replicas, another_model_is_refused_in_a_sentence) {
  start_head();
  config.stages[0].dtype = "float32";
  EXPECT_THAT(join(0)->ended.wait_for("refused"), HasSubstr("The model differs from the head's for stage 0"));
}

TEST_F(remote_replicas, one_that_leaves_finishes_what_it_has) {
  start_head();
  const auto there = join_and_wait(0);
  const auto one = submit("hello", false, 100);
  there->running->leave();
  EXPECT_THAT(there->ended.wait_for("left"), HasSubstr("All replicas have left"));
  one->wait_for_end();
  EXPECT_TRUE(!one->problem() || one->text().empty());
  EXPECT_TRUE(list().empty() || list()[0].state != replica_state::lost);
}

TEST_F(remote_replicas, a_lost_process_takes_only_its_own_requests_with_it) {
  start_head();
  auto first = join_and_wait(0, 0);
  const auto second = join_and_wait(0, 1);
  std::vector<std::shared_ptr<recording_sink>> all;
  for (int i = 0; i < 6; ++i) all.push_back(submit("prompt " + std::to_string(i), false, 100));
  first->running.reset();
  for (int i = 0; i < 6; ++i) {
    all[std::size_t(i)]->wait_for_end();
    const auto said = answer("prompt " + std::to_string(i), 100);
    if (all[std::size_t(i)]->problem()) {
      EXPECT_EQ(all[std::size_t(i)]->code(), errc::replica_lost);
    } else {
      EXPECT_EQ(all[std::size_t(i)]->text(), said);
    }
  }
  const auto replacement = join_and_wait(0, 0);
  const auto late = submit("late", false);
  late->wait_for_end();
  EXPECT_EQ(late->text(), answer("late", 12));
}

TEST_F(remote_replicas, look_for_the_next_head_when_theirs_is_gone) {
  start_head();
  const auto there = join_and_wait(0);
  there->told.forget();
  head.reset();
  there->told.wait_for("trying again");
  start_head();
  there->told.wait_for("serves the head");
  const auto one = submit("hello", false);
  one->wait_for_end();
  EXPECT_EQ(one->text(), answer("hello", 12));
}

/// Sends bytes to a port and waits until the other end closes; what came back.
std::string say(std::uint16_t port, const std::string& what) {
  const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(port);
  to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  EXPECT_EQ(::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to), 0);
  (void)!::send(fd, what.data(), what.size(), MSG_NOSIGNAL);
  std::string back;
  char some[256];
  for (ssize_t got = 0; (got = ::recv(fd, some, sizeof some, 0)) > 0;) back.append(some, std::size_t(got));
  ::close(fd);
  return back;
}

TEST_F(remote_replicas, who_does_not_speak_the_protocol_is_cut_off_without_effect) {
  start_head();
  const auto there = join_and_wait(0);
  const auto port = head->join_port();
  EXPECT_EQ(say(port, "GET / HTTP/1.1\r\n\r\n"), "");
  EXPECT_EQ(say(port, std::string(100, '\0')), "");
  EXPECT_EQ(say(port, std::string(1 << 20, '\xff')), "");
  const auto whole = net::frame_of(net::frame_kind::hello, net::hello{});
  EXPECT_EQ(say(port, {whole.data(), whole.size() / 2}), "") << "half a hello, until its time is over";
  net::hello older;
  older.protocol = 0;
  const auto old_frame = net::frame_of(net::frame_kind::hello, older);
  EXPECT_THAT(say(port, {old_frame.data(), old_frame.size()}), HasSubstr("install the same release"));
  auto unknown = net::frame_of(net::frame_kind::hello, net::hello{});
  const auto join_without_reading = net::frame_of(net::frame_kind::open, net::open{});
  unknown.insert(unknown.end(), join_without_reading.begin(), join_without_reading.end());
  say(port, {unknown.data(), unknown.size()}); // a welcome, and the end
  const auto one = submit("hello", false);
  one->wait_for_end();
  EXPECT_EQ(one->text(), answer("hello", 12));
  EXPECT_EQ(list().size(), 1u);
}

TEST_F(remote_replicas, an_address_that_others_reach_needs_tls) {
  config.network->address = "0.0.0.0";
  const auto refused = engine::start(config, fake_loader(options));
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("--omni-tls-cert"));
  EXPECT_THAT(refused.error().message, HasSubstr("--insecure"));
  config.network->insecure = true;
  EXPECT_TRUE(engine::start(config, fake_loader(options)));
}

} // namespace
} // namespace omni::test

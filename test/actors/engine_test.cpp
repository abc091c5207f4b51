#include "actors/engine.hpp"

#include "kernels/core/error.hpp"
#include "test/support/engine_answers.hpp"
#include "test/support/fake_runner.hpp"
#include "test/support/recording_sink.hpp"

#include <atomic>
#include <future>
#include <gmock/gmock.h>
#include <latch>
#include <thread>

namespace omni::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// Real threads; tests wait for what happens, never for time to pass.
class engine_test : public testing::Test {
protected:
  engine_test() {
    const char* names[] = {"thinker", "talker", "code2wav"};
    for (std::int32_t at = 0; at < 3; ++at) {
      auto& stage = config.stages.emplace_back();
      stage.id = {at};
      stage.model_stage = names[at];
    }
    config.stages[0].final_output_type = modality::text;
    config.stages[2].final_output_type = modality::audio;
    config.threads = 1;
  }

  void start() {
    auto made = engine::start(config, fake_loader(options));
    ASSERT_TRUE(made) << made.error().message;
    running = std::move(*made);
  }
  std::shared_ptr<recording_sink> submit(request what, request_id* id = nullptr) {
    auto heard = std::make_shared<recording_sink>();
    const auto given = running->submit(std::move(what), heard);
    EXPECT_TRUE(given) << given.error().message;
    if (given && id != nullptr) *id = *given;
    return heard;
  }
  static request chat(std::string_view prompt, bool audio = false, std::int32_t max_tokens = 8) {
    request what;
    what.prompt = fake_tokens(prompt);
    what.want_audio = audio;
    what.sampling.temperature = 0;
    what.sampling.ignore_eos = true;
    what.sampling.max_tokens = max_tokens;
    return what;
  }
  static std::string answer(std::string_view prompt, std::size_t count = 8) {
    return fake_tokenizer().decode(expected_tokens(fake_tokens(prompt), count, chat("").sampling), true);
  }
  std::string page() {
    std::promise<std::string> text;
    running->metrics_text([&](std::string found) { text.set_value(std::move(found)); });
    return text.get_future().get();
  }
  /// The value of one series of /metrics; nothing if it is not there.
  std::optional<double> value_of(const std::string& series) {
    const auto text = "\n" + page();
    const auto at = text.find("\n" + series + " ");
    if (at == std::string::npos) return std::nullopt;
    return std::stod(text.substr(at + series.size() + 2));
  }
  std::optional<double> tokens_of(int stage, int replica) {
    return value_of("vllm:generation_tokens_total{model_name=\"tiny\",replica=\"" + std::to_string(replica) +
                    "\",stage=\"" + std::to_string(stage) + "\"}");
  }
  std::vector<replica_status> replicas() { return test::replicas_of(*running); }

  engine_config config;
  fake_options options;
  std::unique_ptr<engine> running;
};

/// Holds the replicas' threads before a step until it is opened.
class gate {
public:
  void open() { opened_.set_value(); }
  void pass() { wait_.wait(); }

private:
  std::promise<void> opened_;
  std::shared_future<void> wait_ = opened_.get_future().share();
};

TEST_F(engine_test, answers_text_and_audio) {
  start();
  const auto heard = submit(chat("hello", true));
  heard->wait_for_end();
  EXPECT_FALSE(heard->problem());
  EXPECT_EQ(heard->text(), answer("hello"));
  EXPECT_EQ(heard->sound(), expected_sound(answer("hello"), options));
}

TEST_F(engine_test, answers_many_threads_at_once) {
  config.stages[0].num_replicas = 2;
  options.blocks = 32;
  start();
  std::vector<std::jthread> clients;
  for (int client = 0; client < 4; ++client)
    clients.emplace_back([&, client] {
      for (int i = 0; i < 25; ++i) {
        const auto prompt = std::to_string(client) + " asks " + std::to_string(i);
        const auto heard = submit(chat(prompt, i % 3 == 0, 20));
        heard->wait_for_end();
        EXPECT_FALSE(heard->problem());
        EXPECT_EQ(heard->text(), answer(prompt, 20));
        EXPECT_EQ(heard->sound(), expected_sound(i % 3 == 0 ? answer(prompt, 20) : "", options));
      }
    });
}

TEST_F(engine_test, knows_its_models_and_their_limits) {
  config.stages[1].num_replicas = 0;
  start();
  EXPECT_EQ(running->info({0}).max_model_len, 128);
  EXPECT_EQ(running->info({0}).vocab_size, fake_vocabulary);
  EXPECT_EQ(running->info({1}).rows_per_second, 200) << "also of a stage without replicas";
  EXPECT_EQ(running->info({2}).sample_rate, 800);
  EXPECT_EQ(running->model({0}).tokenizer(), &fake_tokenizer());
  EXPECT_EQ(running->model({1}).speakers().size(), 2u);
  EXPECT_EQ(running->config().stages.size(), 3u);
}

TEST_F(engine_test, returns_what_is_wrong_with_a_request_at_once) {
  start();
  auto what = chat("hello");
  what.sampling.temperature = -1;
  const auto refused = running->submit(what, std::make_shared<recording_sink>());
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().param, "temperature");
  const auto long_one = running->submit(chat(std::string(200, 'x')), std::make_shared<recording_sink>());
  EXPECT_EQ(long_one.error().code, errc::context_too_long);
}

TEST_F(engine_test, gives_the_same_tokens_for_the_same_seed) {
  start();
  auto what = chat("hello");
  what.sampling.temperature = 1;
  what.sampling.seed = 17;
  const auto a = submit(what);
  const auto b = submit(what);
  what.sampling.seed = 18;
  const auto c = submit(what);
  for (const auto& heard : {a, b, c}) heard->wait_for_end();
  EXPECT_EQ(a->tokens(), b->tokens());
  EXPECT_NE(a->tokens(), c->tokens());
}

TEST_F(engine_test, says_why_it_cannot_start) {
  options.on_make = [](const std::string& stage, int) {
    if (stage == "talker") throw load_error("No memory for the talker.");
  };
  const auto made = engine::start(config, fake_loader(options));
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().code, errc::load_failed);
  EXPECT_THAT(made.error().message, HasSubstr("talker"));
  config.stages[0].model_stage = "oracle";
  EXPECT_EQ(engine::start(config, fake_loader({})).error().code, errc::load_failed);
  config.stages[0].max_num_seqs = 0;
  EXPECT_EQ(engine::start(config, fake_loader({})).error().code, errc::invalid_request);
}

TEST_F(engine_test, ends_an_aborted_request_while_a_step_is_computed) {
  gate steps;
  std::latch inside(1);
  std::once_flag once;
  options.before_step = [&](const fake_step&) {
    std::call_once(once, [&] { inside.count_down(); });
    steps.pass();
  };
  start();
  request_id id;
  const auto heard = submit(chat("hello"), &id);
  inside.wait();
  running->abort(id);
  heard->wait_for_end();
  EXPECT_EQ(heard->code(), errc::aborted);
  steps.open();
  const auto next = submit(chat("next"));
  next->wait_for_end();
  EXPECT_EQ(next->text(), answer("next"));
  for (const auto& line : replicas()) EXPECT_EQ(line.running + line.waiting, 0);
}

TEST_F(engine_test, refuses_more_requests_than_it_may_admit) {
  gate steps;
  options.before_step = [&](const fake_step&) { steps.pass(); };
  config.max_num_requests = 2;
  start();
  const auto a = submit(chat("a"));
  const auto b = submit(chat("b"));
  const auto c = submit(chat("c"));
  c->wait_for_end();
  EXPECT_EQ(c->code(), errc::overloaded);
  steps.open();
  a->wait_for_end();
  b->wait_for_end();
  EXPECT_EQ(b->text(), answer("b"));
}

TEST_F(engine_test, tells_running_requests_when_it_is_destroyed) {
  std::latch inside(1);
  std::once_flag once;
  options.before_step = [&](const fake_step&) { std::call_once(once, [&] { inside.count_down(); }); };
  start();
  std::vector<std::shared_ptr<recording_sink>> all;
  for (int i = 0; i < 40; ++i) all.push_back(submit(chat("hello", true, 100)));
  inside.wait();
  running.reset();
  for (const auto& heard : all) {
    EXPECT_EQ(heard->ends(), 1);
    EXPECT_EQ(heard->late(), 0);
    EXPECT_EQ(heard->code().value_or(errc::shutting_down), errc::shutting_down);
  }
}

TEST_F(engine_test, can_be_destroyed_at_any_time_and_started_again) {
  for (int round = 0; round < 10; ++round) {
    start();
    std::vector<std::shared_ptr<recording_sink>> all;
    for (int i = 0; i < round; ++i) all.push_back(submit(chat("hello", i % 2 == 0, 30)));
    if (!all.empty() && round % 2 == 0) all.front()->wait_for_output();
    running.reset();
    for (const auto& heard : all) EXPECT_EQ(heard->ends(), 1);
  }
}

TEST_F(engine_test, drains) {
  start();
  const auto heard = submit(chat("hello", true, 50));
  std::promise<void> drained;
  running->drain([&] { drained.set_value(); });
  drained.get_future().wait();
  heard->wait_for_end();
  EXPECT_EQ(heard->text(), answer("hello", 50));
  const auto late = submit(chat("late"));
  late->wait_for_end();
  EXPECT_EQ(late->code(), errc::shutting_down);
}

TEST_F(engine_test, takes_replicas_in_and_out_under_load) {
  start();
  std::atomic<bool> stop{false};
  std::atomic<int> answered{0};
  std::vector<std::jthread> clients;
  for (int client = 0; client < 3; ++client)
    clients.emplace_back([&, client] {
      while (!stop) {
        const auto prompt = std::to_string(client) + " asks";
        const auto heard = submit(chat(prompt, true, 10));
        heard->wait_for_end();
        EXPECT_FALSE(heard->problem());
        EXPECT_EQ(heard->text(), answer(prompt, 10));
        ++answered;
      }
    });
  for (std::int32_t round = 0; round < 12; ++round) {
    const stage_id stage{round % 3};
    const auto added = running->add_replica(stage, replica_id{10 + round});
    ASSERT_TRUE(added) << added.error().message;
    EXPECT_EQ(added->value, 10 + round);
    const int seen = answered;
    while (answered < seen + 5) std::this_thread::yield();
    ASSERT_TRUE(running->remove_replica(stage, *added));
  }
  stop = true;
  clients.clear();
  EXPECT_EQ(running->add_replica({0}, replica_id{0}).error().code, errc::replica_conflict);
  EXPECT_EQ(running->remove_replica({0}, {99}).error().code, errc::not_found);
  EXPECT_EQ(running->add_replica({0})->value, 1);
}

TEST_F(engine_test, survives_the_death_of_a_replica) {
  options.before_step = [](const fake_step& step) {
    if (step.stage == "thinker" && step.runner == 0 && step.number == 5) throw device_error("The device fell off.");
  };
  config.stages[0].num_replicas = 2;
  start();
  std::vector<std::shared_ptr<recording_sink>> all;
  for (int i = 0; i < 20; ++i) all.push_back(submit(chat("hello", false, 30)));
  int lost = 0;
  for (const auto& heard : all) {
    heard->wait_for_end();
    if (heard->problem()) {
      EXPECT_EQ(heard->code(), errc::replica_lost);
      ++lost;
    } else {
      EXPECT_EQ(heard->text(), answer("hello", 30));
    }
  }
  EXPECT_LE(lost, 16) << "no more than one step of the dead one held";
  EXPECT_EQ(std::ranges::count(replicas(), replica_state::lost, &replica_status::state), 1);
}

TEST_F(engine_test, shows_its_statistics) {
  config.served_model_name = "tiny";
  start();
  submit(chat("hello", true))->wait_for_end();
  const auto text = page();
  EXPECT_THAT(text, HasSubstr("vllm:num_requests_running{model_name=\"tiny\",replica=\"0\",stage=\"0\"}"));
  EXPECT_THAT(text, HasSubstr("process_resident_memory_bytes"));
  running->do_log_stats();
}

TEST_F(engine_test, has_no_engine_statistics_when_they_are_off) {
  config.log_stats = false;
  start();
  submit(chat("hello"))->wait_for_end();
  EXPECT_THAT(page(), Not(HasSubstr("vllm:")));
  running->do_log_stats();
}

/// Clients that ask for text again and again until the test ends.
class steady_load {
public:
  steady_load(engine& on, const request& what, int clients) {
    for (int i = 0; i < clients; ++i)
      clients_.emplace_back([this, &on, what] {
        while (!stop_) {
          const auto heard = std::make_shared<recording_sink>();
          EXPECT_TRUE(on.submit(what, heard));
          heard->wait_for_end();
          EXPECT_FALSE(heard->problem());
          tokens_ += std::int64_t(heard->tokens().size());
          ++answered_;
        }
      });
  }
  void wait_for_answers(int more) {
    for (const int until = answered_ + more; answered_ < until;) std::this_thread::yield();
  }
  /// Ends the load; returns the tokens that its clients got.
  std::int64_t stop() {
    stop_ = true;
    clients_.clear();
    return tokens_;
  }

private:
  std::atomic<bool> stop_{false};
  std::atomic<int> answered_{0};
  std::atomic<std::int64_t> tokens_{0};
  std::vector<std::jthread> clients_;
};

TEST_F(engine_test, late_replicas_count_for_themselves_from_none_at_all_with_sparse_ids_under_load) {
  config.served_model_name = "tiny";
  config.stages[0].num_replicas = 0;
  config.routing = routing_policy::round_robin;
  start();
  EXPECT_FALSE(tokens_of(0, 3)) << "no replica, no series";
  EXPECT_EQ(tokens_of(1, 0), 0);
  EXPECT_TRUE(value_of("vllm:request_prompt_tokens_bucket{le=\"100.0\",model_name=\"tiny\",replica=\"0\",stage=\"1\"}"))
      << "the context of the stage that is to come counts";
  steady_load load(*running, chat("hello", false, 10), 3);
  for (const int id : {3, 0, 7}) {
    EXPECT_FALSE(tokens_of(0, id));
    ASSERT_TRUE(running->add_replica({0}, replica_id{id}));
    EXPECT_TRUE(tokens_of(0, id)) << "its series are there before anything is sent to it, or soon after";
    load.wait_for_answers(10);
  }
  ASSERT_TRUE(running->add_replica({1}, replica_id{3}));
  EXPECT_EQ(tokens_of(1, 3), 0) << "another stage's replica of the same id counts apart";
  const auto seen = load.stop();
  // Facts that were held back while two reports were under way come with the next acknowledgement.
  const auto counted = [&] { return *tokens_of(0, 0) + *tokens_of(0, 3) + *tokens_of(0, 7); };
  while (counted() != double(seen)) ASSERT_LE(counted(), double(seen));
  for (const int id : {0, 3, 7}) EXPECT_GT(tokens_of(0, id), 0) << id;
  EXPECT_EQ(value_of("omni_serve:bad_values_total{kind=\"unknown_engine\",model_name=\"tiny\"}"), 0);
}

TEST_F(engine_test, a_departed_replica_keeps_its_series_and_its_index_for_one_that_comes_back) {
  config.served_model_name = "tiny";
  config.metrics_engine_labels = true;
  start();
  const auto tokens = [&](int engine) {
    return value_of("vllm:generation_tokens_total{engine=\"" + std::to_string(engine) + "\",model_name=\"tiny\"}");
  };
  const auto healthy = [&](int engine) {
    return value_of("vllm:engine_healthy{engine=\"" + std::to_string(engine) + "\"}");
  };
  steady_load load(*running, chat("hello", false, 10), 3);
  ASSERT_TRUE(running->add_replica({0}, replica_id{5})); // engine 3, after one of each stage
  while (tokens(3) == 0) load.wait_for_answers(1);
  ASSERT_TRUE(running->remove_replica({0}, {5}));
  while (healthy(3) != 0) load.wait_for_answers(1);
  const auto kept = tokens(3);
  load.wait_for_answers(5);
  EXPECT_EQ(tokens(3), kept) << "it stays, and counts nothing any more";
  ASSERT_TRUE(running->add_replica({0}, replica_id{9})); // not the index of the one that left
  EXPECT_TRUE(tokens(4));
  ASSERT_TRUE(running->add_replica({0}, replica_id{5}));
  EXPECT_EQ(healthy(3), 1);
  while (tokens(3) == kept) load.wait_for_answers(1);
  EXPECT_GT(tokens(3), kept);
  EXPECT_FALSE(tokens(5));
  load.stop();
}

TEST_F(engine_test, do_log_stats_returns_at_once_while_it_works_and_after_it_has_drained) {
  start();
  const auto heard = submit(chat("hello", true, 50));
  for (int i = 0; i < 1000; ++i) running->do_log_stats();
  heard->wait_for_end();
  EXPECT_EQ(heard->text(), answer("hello", 50));
  std::promise<void> drained;
  running->drain([&] { drained.set_value(); });
  drained.get_future().wait();
  running->do_log_stats();
}

TEST_F(engine_test, samples_several_choices) {
  start();
  auto what = chat("hello");
  what.n = 3;
  what.sampling.temperature = 1;
  what.sampling.seed = 5;
  const auto heard = submit(what);
  heard->wait_for_end();
  for (std::int32_t choice = 0; choice < 3; ++choice) {
    auto sampling = what.sampling;
    sampling.seed = 5 + std::uint64_t(choice);
    EXPECT_EQ(heard->tokens(choice), expected_tokens(what.prompt, 8, sampling));
  }
}

} // namespace
} // namespace omni::test

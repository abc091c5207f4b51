#include "test/actors/pipeline_fixture.hpp"

#include <gmock/gmock.h>

namespace omni::test {
namespace {

using testing::ElementsAre;

/// Which of two thinkers gets a prompt.
class prefix_routing : public pipeline_fixture {
protected:
  prefix_routing() {
    config.stages[0].block_size = options.block_size;
    statistics = true;
  }

  /// A request from its start to its end; nothing else runs.
  void serve(std::string_view prompt) {
    const auto one = submit(chat(prompt));
    run();
    EXPECT_EQ(one.heard->text(), answer(prompt, 8));
  }
  /// How many requests each of the two has finished.
  std::vector<std::int64_t> finished() {
    std::vector<std::int64_t> counts;
    for (int replica = 0; replica < 2; ++replica)
      counts.push_back(heard_by_logger.reports[{0, replica}].finished.by_reason[std::size_t(finished_as::length)]);
    return counts;
  }

  static constexpr auto story = "once upon a time there was";
};

TEST_F(prefix_routing, who_had_the_same_beginning_gets_the_request_out_of_turn) {
  start({2, 0, 0});
  serve(story);
  serve("once upon a time there was a king");
  EXPECT_THAT(finished(), ElementsAre(2, 0));
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].prefix_cache.hits), 24) << "and it did hold them";
  serve("a different beginning");
  EXPECT_THAT(finished(), ElementsAre(2, 1));
  serve("a different beginning again");
  serve("once upon a time in the west");
  EXPECT_THAT(finished(), ElementsAre(3, 2));
}

TEST_F(prefix_routing, who_is_much_busier_is_not_preferred) {
  start({2, 0, 0});
  std::vector<running_request> all;
  for (int i = 0; i < 3; ++i) all.push_back(submit(chat(story, true, false, 40)));
  run();
  EXPECT_THAT(finished(), ElementsAre(2, 1)) << "one more than the other is not much, two are";
}

TEST_F(prefix_routing, what_a_replica_had_is_forgotten_when_it_dies_or_leaves) {
  start({2, 0, 0});
  serve(story);
  crash(0, 0);
  run();
  add(0, 0);
  serve(story);
  EXPECT_THAT(finished(), ElementsAre(1, 1)) << "the turn was the other's";
  remove(0, 1);
  run();
  add(0, 1);
  serve(story);
  EXPECT_THAT(finished(), ElementsAre(2, 1));
}

TEST_F(prefix_routing, no_more_is_remembered_than_the_cache_holds) {
  options.blocks = 12;
  start({1, 0, 0});
  serve(story);
  serve(std::string(40, 'x'));
  serve(std::string(40, 'y'));
  add(0, 1);
  serve(story);
  EXPECT_THAT(finished(), ElementsAre(3, 1));
  serve(std::string(36, 'y') + "?");
  EXPECT_THAT(finished(), ElementsAre(4, 1));
}

TEST_F(prefix_routing, nothing_is_remembered_without_prefix_caching) {
  config.stages[0].enable_prefix_caching = false;
  start({2, 0, 0});
  serve(story);
  serve(story);
  EXPECT_THAT(finished(), ElementsAre(1, 1));
}

} // namespace
} // namespace omni::test

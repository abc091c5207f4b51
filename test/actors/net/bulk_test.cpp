#include "actors/net/bulk.hpp"
#include "actors/net/early_pieces.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace omni::net {
namespace {

std::vector<char> message_of(std::size_t size) {
  std::vector<char> out(size);
  std::iota(out.begin(), out.end(), char(0));
  return out;
}

TEST(bulk, a_message_is_cut_and_put_together_again) {
  bulk_sender sender({.part = 10, .window = 1000});
  bulk_receiver receiver;
  sender.push(message_of(25));
  sender.push(message_of(10));
  std::vector<std::size_t> sizes;
  std::vector<std::vector<char>> whole;
  while (auto part = sender.next()) {
    sizes.push_back(part->content.size());
    const auto outcome = part->first ? receiver.first(part->whole, part->content) : receiver.more(part->content);
    ASSERT_NE(outcome, bulk_receiver::outcome::malformed);
    if (outcome == bulk_receiver::outcome::complete) whole.push_back(receiver.take());
  }
  EXPECT_EQ(sizes, (std::vector<std::size_t>{10, 10, 5, 10}));
  EXPECT_EQ(whole, (std::vector<std::vector<char>>{message_of(25), message_of(10)}));
  EXPECT_EQ(sender.waiting(), 0u);
}

TEST(bulk, parts_wait_for_credit) {
  bulk_sender sender({.part = 10, .window = 20});
  sender.push(message_of(35));
  EXPECT_TRUE(sender.next());
  EXPECT_TRUE(sender.next());
  EXPECT_FALSE(sender.next());
  EXPECT_EQ(sender.waiting(), 15u);
  EXPECT_TRUE(sender.credit(10));
  EXPECT_TRUE(sender.next());
  EXPECT_FALSE(sender.next());
  EXPECT_FALSE(sender.credit(21)) << "more than is under way";
}

TEST(bulk, credit_is_given_back_when_it_is_worth_a_message) {
  bulk_receiver receiver;
  receiver.first(30, message_of(10));
  EXPECT_FALSE(receiver.credit_due(20));
  receiver.more(message_of(15));
  EXPECT_EQ(receiver.credit_due(20), 25u);
  EXPECT_FALSE(receiver.credit_due(1));
}

TEST(bulk, parts_that_do_not_fit_are_refused) {
  const auto malformed = bulk_receiver::outcome::malformed;
  EXPECT_EQ(bulk_receiver().more(message_of(1)), malformed) << "nothing has begun";
  EXPECT_EQ(bulk_receiver().first(0, {}), malformed);
  EXPECT_EQ(bulk_receiver(100).first(101, message_of(1)), malformed) << "larger than any message";
  EXPECT_EQ(bulk_receiver().first(5, message_of(6)), malformed) << "more than was announced";
  bulk_receiver receiver;
  receiver.first(5, message_of(1));
  EXPECT_EQ(receiver.first(5, message_of(1)), malformed) << "the one before is not complete";
}

chunk piece(std::uint64_t request, std::int32_t attempt, std::uint32_t number, std::size_t size = 0) {
  chunk one;
  one.request = {request};
  one.attempt = attempt;
  one.number = number;
  if (size > 0) {
    auto data = std::make_shared<payload>();
    data->text.assign(size, 'x');
    one.data = data;
  }
  return one;
}

TEST(early_pieces, are_given_to_the_request_that_they_were_for) {
  early_pieces early;
  early.hold(piece(1, 0, 0), 0);
  early.hold(piece(2, 0, 0), 0);
  early.hold(piece(1, 1, 0), 0);
  early.hold(piece(1, 1, 1), 0);
  const auto found = early.take({1}, 1);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].number, 0u);
  EXPECT_EQ(found[1].number, 1u);
  EXPECT_EQ(early.size(), 1u) << "the earlier attempt is forgotten, the other request is not";
}

TEST(early_pieces, of_a_later_attempt_stay) {
  early_pieces early;
  early.hold(piece(1, 2, 0), 0);
  EXPECT_TRUE(early.take({1}, 1).empty());
  EXPECT_EQ(early.take({1}, 2).size(), 1u);
}

TEST(early_pieces, are_forgotten_in_time_and_when_they_are_too_many) {
  early_pieces early(1000, 50);
  early.hold(piece(1, 0, 0), 0);
  early.hold(piece(2, 0, 0), 40);
  early.forget_older_than(51);
  EXPECT_TRUE(early.take({1}, 0).empty());
  EXPECT_EQ(early.size(), 1u);
  early.hold(piece(3, 0, 0, 900), 60);
  EXPECT_TRUE(early.take({2}, 0).empty());
  EXPECT_EQ(early.take({3}, 0).size(), 1u);
}

} // namespace
} // namespace omni::net

#include "metrics/timing_line.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

TEST(timing_line, names_the_request_its_stages_and_its_transfers_in_milliseconds) {
  request_timeline one;
  one.name = "chatcmpl-7";
  one.total_s = 1.25;
  one.preprocess_s = 0.0005;
  one.engine_s = 1.2495;
  one.stages = {{{0}, 0.5}, {{1}, 0.75}};
  one.transfers = {{{0}, {1}, 0.00012}};
  EXPECT_EQ(timing_line(one), "[OmniTiming] req=chatcmpl-7 total=1250.000ms preprocess=0.500ms engine=1249.500ms "
                              "stages=[0:500.000ms,1:750.000ms] transfers=[0->1=0.120ms]");
}

TEST(timing_line, a_clients_name_cannot_begin_a_line_of_its_own) {
  request_timeline one;
  one.name = "a\nEngine 000: \x1b[31m";
  EXPECT_EQ(timing_line(one).find_first_of("\n\x1b"), std::string::npos);
}

} // namespace
} // namespace omni

// Answers stay small.
#include "manager/mcp/bounds.h"

#include <catch2/catch.hpp>

namespace attune::bounds_test {

json page_of(std::int64_t offset, std::int64_t limit, int elements) {
  Page page(offset, limit);
  for (int i = 0; i < elements; ++i) {
    if (!page.skip() && !page.add(i)) break;
  }
  json answer = json::object();
  page.put(answer, "list");
  return answer;
}

TEST_CASE("bounds: a page says whether there is more") {
  CHECK(page_of(0, 3, 3) == json{{"list", {0, 1, 2}}, {"more", false}});
  CHECK(page_of(0, 3, 4) == json{{"list", {0, 1, 2}}, {"more", true}, {"next_offset", 3}});
  CHECK(page_of(3, 3, 4) == json{{"list", json::array({3})}, {"more", false}});
  CHECK(page_of(9, 3, 4) == json{{"list", json::array()}, {"more", false}});
}

TEST_CASE("bounds: a page ends before it is large, but never makes no progress") {
  Page page(0, 1000);
  int added = 0;
  while (page.add({{"text", std::string(100'000, 'x')}})) ++added;
  CHECK(added >= 9);
  CHECK(added <= 11);
  json answer = json::object();
  page.put(answer, "list");
  CHECK(answer["next_offset"] == added);
  CHECK(answer["list"][0]["shortened"] == true);
  CHECK(dump_json(answer).size() < 50'000);
}

TEST_CASE("bounds: of a long list the first or the newest are kept") {
  json answer = {{"list", {1, 2, 3, 4}}, {"other", {1}}};
  keep_few(answer, "list", 3, true);
  keep_few(answer, "other", 3, true);
  CHECK(answer == json{{"list", {2, 3, 4}}, {"other", {1}}, {"left_out", {{"list", 1}}}});
  keep_few(answer, "list", 1, false);
  CHECK(answer["list"] == json::array({2}));
  CHECK(answer["left_out"]["list"] == 2);
}

TEST_CASE("bounds: small values stay as they are") {
  const json value = {{"a", {1, "text", nullptr}}, {"b", {{"c", 0.5}}}};
  CHECK(shortened(value, 1000) == value);
}

TEST_CASE("bounds: every kind of large value becomes small") {
  json numbers = json::array(), deep = 1, keys = json::object(), texts = json::object();
  for (int i = 0; i < 10'000; ++i) numbers.push_back(0.123456789012345 * i);
  for (int i = 0; i < 200; ++i) deep = json::array({deep, std::string(100, 'd')});
  for (int i = 0; i < 2'000; ++i) keys["key" + std::to_string(i)] = i;
  texts["first"] = "small";
  texts["long"] = std::string(50'000, 'x');
  texts["last"] = 1;
  const json empty(10'000, json::array()), controls = std::string(10'000, '\x1b');
  for (const json& value :
       {numbers, deep, keys, texts, json{{std::string(9'000, 'k'), 1}}, empty, controls}) {
    const std::size_t size = dump_json(shortened(value, 2'000)).size();
    CHECK(size < 6'000);
  }
  const json cut = shortened(texts, 2'000);
  CHECK(cut["first"] == "small");
  CHECK(cut["shortened"] == true);
  CHECK(cut["long"].get<std::string>().starts_with("xxx"));
  CHECK_FALSE(cut.contains("last"));
}

TEST_CASE("bounds: a text is cut between two characters") {
  std::string text;
  for (int i = 0; i < 1'000; ++i) text += "\xe2\x82\xac";  // three bytes each
  for (std::size_t bytes = 100; bytes < 103; ++bytes)
    CHECK(is_utf8(shortened(text, bytes).get<std::string>()));
}

}  // namespace attune::bounds_test

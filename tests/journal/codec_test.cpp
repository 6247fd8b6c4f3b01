#include "journal/codec.h"

#include <catch2/catch.hpp>

#include "base/rng.h"

namespace attune::codec_test {

using Records = std::vector<JournalRecord>;

std::string encode(const Records& records) {
  std::string bytes;
  for (const auto& [kind, payload] : records) encode_record(kind, payload, bytes);
  return bytes;
}

struct Scanned {
  Records records;
  std::vector<std::uint64_t> offsets;
  std::string error;
  std::uint64_t good = 0;
};

Scanned scan(std::string_view bytes) {
  Scanned found;
  RecordScanner scanner(bytes);
  while (true) {
    const auto item = scanner.next();
    if (!item) {
      found.error = item.error().message;
      CHECK_FALSE(scanner.next());
      break;
    }
    if (!*item) break;
    found.records.push_back({(*item)->kind, std::string((*item)->payload)});
    found.offsets.push_back((*item)->offset);
  }
  found.good = scanner.end_of_good();
  return found;
}

bool is_prefix(const Records& part, const Records& whole) {
  return part.size() <= whole.size() && std::equal(part.begin(), part.end(), whole.begin());
}

const Records kSmall = {{RecordKind::header, R"({"format":1})"},
                        {RecordKind::snapshot, R"({"commands":3,"answers":2})"},
                        {RecordKind::kept, "TR{\"parameter_id\":0}"},
                        {RecordKind::begin, R"({"version":"1"})"},
                        {RecordKind::command, "GE1"},
                        {RecordKind::tune, ""},
                        {RecordKind::answer, "TR{\"parameter_id\":1}"},
                        {RecordKind::assess, ""},
                        {RecordKind::command, std::string("ME\0\1\2", 5)}};

std::vector<std::size_t> ends_of(const Records& records) {
  std::vector<std::size_t> ends;
  std::string bytes;
  for (const auto& [kind, payload] : records) {
    encode_record(kind, payload, bytes);
    ends.push_back(bytes.size());
  }
  return ends;
}

TEST_CASE("journal records come back as they were written") {
  const auto found = scan(encode(kSmall));
  CHECK(found.error.empty());
  CHECK(found.records == kSmall);
  const auto ends = ends_of(kSmall);
  CHECK(found.offsets.front() == 0);
  CHECK(std::equal(found.offsets.begin() + 1, found.offsets.end(), ends.begin()));
  CHECK(found.good == ends.back());
  CHECK(scan("").records.empty());
  CHECK(scan("").error.empty());
}

TEST_CASE("the bytes of a journal record are those of the document") {
  std::string bytes;
  encode_record(RecordKind::command, "123456789", bytes);
  // 123456789 has the sum E3069283; the other one is that of the five bytes before it.
  CHECK(bytes.substr(0, 5) == std::string("\x09\0\0\0\x04", 5));
  CHECK(bytes.substr(9) ==
        "\x83\x92\x06\xE3"
        "123456789");
  CHECK(bytes.size() == kRecordHead + 9);
}

TEST_CASE("a journal that is cut anywhere is one of fewer records") {
  const std::string bytes = encode(kSmall);
  const auto ends = ends_of(kSmall);
  for (std::size_t size = 0; size <= bytes.size(); ++size) {
    CAPTURE(size);
    const auto found = scan(std::string_view(bytes).substr(0, size));
    REQUIRE(found.error.empty());
    const auto whole = static_cast<std::size_t>(
        std::ranges::count_if(ends, [size](std::size_t end) { return end <= size; }));
    REQUIRE(found.records.size() == whole);
    REQUIRE(is_prefix(found.records, kSmall));
    REQUIRE(found.good == (whole == 0 ? 0 : ends[whole - 1]));
  }
}

TEST_CASE("no flipped bit of a journal makes another record") {
  const std::string bytes = encode(kSmall);
  const std::size_t last = ends_of(kSmall)[kSmall.size() - 2];
  for (std::size_t bit = 0; bit < bytes.size() * 8; ++bit) {
    CAPTURE(bit);
    std::string flipped = bytes;
    flipped[bit / 8] = static_cast<char>(flipped[bit / 8] ^ 1 << bit % 8);
    const auto found = scan(flipped);
    REQUIRE(is_prefix(found.records, kSmall));
    // In the last one it cannot be told from a record that was not written to its end.
    REQUIRE(found.error.empty() == (bit / 8 >= last));
    REQUIRE(found.records.size() < kSmall.size());
    REQUIRE(found.good <= bit / 8);
  }
}

TEST_CASE("what follows a journal and is no record is a torn tail") {
  const std::string bytes = encode(kSmall);
  Rng rng(5);
  for (std::size_t size = 1; size < 200; ++size) {
    CAPTURE(size);
    std::string garbage;
    for (std::size_t i = 0; i < size; ++i) garbage += static_cast<char>(rng.index(256));
    for (const std::string& tail : {garbage, std::string(size, '\0')}) {
      const auto found = scan(bytes + tail);
      REQUIRE(found.error.empty());
      REQUIRE(found.records == kSmall);
      REQUIRE(found.good == bytes.size());
    }
  }
}

TEST_CASE("a torn record is torn whatever it holds") {
  // A command can hold bytes that look like a journal.
  const Records records = {{RecordKind::header, "{}"},
                           {RecordKind::command, "FD" + encode(kSmall) + "the end"}};
  const std::string bytes = encode(records);
  const std::size_t first = ends_of(records).front();
  for (std::size_t size = first + kRecordHead; size < bytes.size(); ++size) {
    CAPTURE(size);
    const auto found = scan(std::string_view(bytes).substr(0, size));
    REQUIRE(found.error.empty());
    REQUIRE(found.good == first);
  }
  std::string zeros = bytes;
  std::fill(zeros.begin() + 20, zeros.end(), '\0');
  CHECK(scan(zeros).error.empty());
}

TEST_CASE(
    "a journal of good heads with bad payloads is damaged and is not summed up again and again") {
  // Each of the heads claims a large part of what follows; their sums together are the square of
  // it.
  std::string bytes;
  encode_record(RecordKind::header, "{}", bytes);
  const std::size_t good = bytes.size();
  bytes += 'x';
  const std::string payload(200'000, 'p');
  std::string record;
  encode_record(RecordKind::command, payload, record);
  for (int i = 0; i < 20'000; ++i) bytes += record.substr(0, kRecordHead);
  bytes += payload;
  CHECK(find_record(bytes, good) < good + 1000);  // only the last one is whole
  RecordScanner records(bytes);
  REQUIRE(records.next().value());
  const auto next = records.next();
  REQUIRE_FALSE(next);
  CHECK(records.end_of_good() == good);
}

TEST_CASE("damage in a journal is said with its byte and with where good records are") {
  std::string bytes = encode(kSmall);
  const auto ends = ends_of(kSmall);
  bytes[ends[3] - 1] ^= 1;
  CHECK(scan(bytes).error == "byte " + std::to_string(ends[2]) +
                                 ": the payload does not match its sum, and there are valid "
                                 "records from byte " +
                                 std::to_string(ends[3]) + " on");
  bytes[ends[2]] ^= 1;
  CHECK(scan(bytes).error == "byte " + std::to_string(ends[2]) +
                                 ": no record begins here, and there are valid records from byte " +
                                 std::to_string(ends[3]) + " on");
}

TEST_CASE("journal records in the wrong place and of unknown kinds are errors") {
  const auto error = [](const Records& records) { return scan(encode(records)).error; };
  const JournalRecord header{RecordKind::header, "{}"}, snapshot{RecordKind::snapshot, "{}"};
  const JournalRecord command{RecordKind::command, "GE1"};
  CHECK(error({command}) == "byte 0: the first record is no header");
  CHECK(error({header, header}) == "byte 15: a second header");
  CHECK_THAT(error({header, command, snapshot}), Catch::Contains("right behind the header"));
  CHECK_THAT(error({header, snapshot, snapshot}), Catch::Contains("right behind the header"));
  CHECK(error({header, {static_cast<RecordKind>(9), ""}, command}) ==
        "byte 15: a record of kind 9, which this program does not know");
  CHECK_THAT(error({header, {static_cast<RecordKind>(0), ""}}), Catch::Contains("kind 0"));
}

TEST_CASE("any two journal records of random bytes come back") {
  Rng rng(11);
  const auto random = [&rng] {
    std::string text;
    for (const std::size_t size = rng.index(300); text.size() < size;) {
      text += static_cast<char>(rng.index(256));
    }
    return text;
  };
  for (int i = 0; i < 2000; ++i) {
    CAPTURE(i);
    const Records records = {{RecordKind::header, random()},
                             {static_cast<RecordKind>(3 + rng.index(6)), random()}};
    const std::string bytes = encode(records);
    REQUIRE(scan(bytes).records == records);
    const std::size_t size = rng.index(bytes.size());
    const auto part = scan(std::string_view(bytes).substr(0, size));
    REQUIRE(part.error.empty());
    REQUIRE(is_prefix(part.records, records));
  }
}

}  // namespace attune::codec_test

#include "daemon/journal_command.h"

#include <sys/stat.h>
#include <catch2/catch.hpp>
#include <fstream>

#include "base/json.h"
#include "daemon/options.h"
#include "journal/codec.h"
#include "journal/place.h"
#include "os/atomic_file.h"
#include "tests/support/faulty_files.h"
#include "tests/support/memory_file.h"
#include "tests/support/temporary_folder.h"

namespace attune::journal_command_test {

using Action = JournalCommand::Action;

struct Ran {
  int code = -1;
  std::string out, errors;
};

Ran run(const JournalCommand& command, FileSystem& files = real_files()) {
  MemoryFile out, errors;
  const int code = run_journal_command(files, command, out.file(), errors.file());
  return {code, out.text(), errors.text()};
}

struct Journal {
  explicit Journal(bool snapshot = false) : path(folder.path / "attuned.journal") {
    add(RecordKind::header, R"({"format":1})");
    if (snapshot) {
      add(RecordKind::snapshot, R"({"commands":7,"answers":5})");
      add(RecordKind::kept, "TR{\"a\":4}");
      add(RecordKind::kept, "TR{\"a\":5}");
    }
    add(RecordKind::command, "IN{}");
    add(RecordKind::answer, "ID");
    add(RecordKind::command, "GE1");
    add(RecordKind::tune, "");
    add(RecordKind::answer, "TR{\"a\":6}");
    add(RecordKind::command, "PI\x1b[2J");
    add(RecordKind::answer, R"(NO{"transient":true})");
    save();
  }
  void add(RecordKind kind, const std::string& payload) {
    offsets.push_back(bytes.size());
    encode_record(kind, payload, bytes);
  }
  void save() const { std::ofstream(path, std::ios::binary) << bytes; }
  std::string now() const { return read_file(path).value(); }

  TemporaryFolder folder;
  std::string path, bytes;
  std::vector<std::size_t> offsets;
};

TEST_CASE("journal dump prints a record a line with its number") {
  const Journal journal;
  const Ran ran = run({.action = Action::dump, .file = journal.path});
  CHECK(ran.code == 0);
  CHECK(ran.errors.empty());
  CHECK(ran.out ==
        "         0  header            {\"format\":1}\n"
        "        25  command           IN {}\n"
        "        42  answer            ID\n"
        "        57  command        1  GE 1\n"
        "        73  tune\n"
        "        86  answer         1  TR {\"a\":6}\n"
        "       108  command        2  PI \\x1b[2J\n"
        "       127  answer            NO {\"transient\":true}\n");
}

TEST_CASE("journal dump goes on with the numbers of a snapshot") {
  const Journal journal(true);
  const Ran ran = run({.action = Action::dump, .file = journal.path, .as_json = true});
  CHECK(ran.code == 0);
  std::vector<std::pair<std::string, std::int64_t>> numbered;
  std::istringstream lines(ran.out);
  for (std::string line; std::getline(lines, line);) {
    const json record = parse_json(line).value();
    if (record.contains("number")) numbered.emplace_back(record["code"], record["number"]);
  }
  CHECK(numbered == std::vector<std::pair<std::string, std::int64_t>>{
                        {"TR", 4}, {"TR", 5}, {"GE", 8}, {"TR", 6}, {"PI", 9}});
  CHECK_THAT(ran.out, Catch::Contains("\"code\":\"GE\",\"bytes\":1,\"payload\":\"1\"}\n"));
}

TEST_CASE("journal dump begins with 1 again where a manager began anew") {
  Journal journal(true);
  journal.add(RecordKind::begin, R"({"how":"exact","attuned":"1"})");
  journal.add(RecordKind::command, "GE2");
  journal.add(RecordKind::begin, R"({"how":"restart","attuned":"1"})");
  journal.add(RecordKind::command, "IN{}");
  journal.add(RecordKind::command, "GE3");
  journal.save();
  const Ran ran = run({.action = Action::dump, .file = journal.path});
  CHECK_THAT(ran.out, Catch::Contains("10  GE 2\n") && Catch::Contains(" 1  GE 3\n"));
  CHECK_THAT(run({.file = journal.path}).out,
             Catch::Contains("commands  1, number 1\nanswers   none\n"));
}

TEST_CASE("journal verify names a format that no daemon here goes on with") {
  Journal journal;
  journal.bytes.clear();
  journal.add(RecordKind::header, R"({"format":3})");
  journal.save();
  const Ran ran = run({.file = journal.path});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.errors, Catch::Contains("format 3: this attuned reads formats 1 to 2"));
}

TEST_CASE("journal verify and dump end at a record that is of no daemon") {
  Journal journal;
  const std::size_t good = journal.bytes.size();
  journal.add(RecordKind::edge, "{}");
  journal.add(RecordKind::command, "GE2");
  journal.save();
  const std::string what = "byte " + std::to_string(good) + ": a record \"edge\"";
  const Ran verified = run({.file = journal.path});
  CHECK(verified.code == 1);
  CHECK_THAT(verified.errors, Catch::Contains(what));
  CHECK_THAT(verified.out, Catch::Contains("in " + std::to_string(good) + " bytes"));
  const Ran dumped = run({.action = Action::dump, .file = journal.path});
  CHECK(dumped.code == 1);
  CHECK_THAT(dumped.errors, Catch::Contains(what));
  CHECK_THAT(dumped.out, !Catch::Contains("GE 2"));
}

TEST_CASE("journal verify and dump refuse what is no file") {
  const TemporaryFolder folder;
  const std::string pipe = folder.path / "pipe";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  for (const Action action : {Action::verify, Action::dump, Action::repair}) {
    const Ran ran = run({.action = action, .file = pipe});
    CHECK(ran.code == 1);
    CHECK_THAT(ran.errors, Catch::Contains("it is a pipe, no file"));
  }
}

TEST_CASE("journal dump shortens long payloads unless all is asked for") {
  Journal journal;
  const std::string long_one(5000, 'x');
  journal.add(RecordKind::command, "FD" + long_one);
  journal.save();
  JournalCommand command{.action = Action::dump, .file = journal.path};
  CHECK_THAT(run(command).out,
             Catch::EndsWith("FD " + long_one.substr(0, 100) + "... (5000 bytes)\n"));
  command.full = true;
  CHECK_THAT(run(command).out, Catch::EndsWith("FD " + long_one + "\n"));
  command.as_json = true;
  CHECK_THAT(run(command).out, Catch::Contains("\"payload\":\"" + long_one + "\""));
}

TEST_CASE("journal verify says what is there") {
  Journal journal(true);
  Ran ran = run({.file = journal.path});
  CHECK(ran.code == 0);
  CHECK(
      ran.out ==
      "records   11 in " + std::to_string(journal.bytes.size()) +
          " bytes\n"
          "snapshot  26 bytes, after command 7 and answer 5; of the answers before it 2 are kept\n"
          "commands  2, numbers 8 to 9\n"
          "answers   1, number 6\n");
  const std::size_t good = journal.bytes.size();
  journal.bytes += "torn";
  journal.save();
  ran = run({.file = journal.path});
  CHECK(ran.code == 0);
  CHECK_THAT(ran.out, Catch::Contains("torn      4 bytes from byte " + std::to_string(good)));

  journal.bytes[journal.offsets[6] + kRecordHead] ^= 1;
  journal.save();
  ran = run({.file = journal.path});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Catch::StartsWith("records   6 in "));
  CHECK_THAT(ran.errors, Catch::StartsWith("attuned journal: " + journal.path + ": byte " +
                                           std::to_string(journal.offsets[6]) +
                                           ": the payload does not match its sum"));
  // What is good before it can be looked at.
  ran = run({.action = Action::dump, .file = journal.path});
  CHECK(ran.code == 1);
  CHECK_THAT(ran.out, Catch::EndsWith("answer            ID\n"));
  CHECK_THAT(ran.errors, Catch::Contains("does not match its sum"));
}

TEST_CASE("journal repair keeps what stands before the damage and the original") {
  Journal journal;
  const std::string whole = journal.bytes;
  journal.bytes[journal.offsets[3] + 1] ^= 4;
  journal.save();
  const JournalCommand command{.action = Action::repair, .file = journal.path};
  const Ran ran = run(command);
  CHECK(ran.code == 0);
  CHECK(journal.now() == whole.substr(0, journal.offsets[3]));
  CHECK(read_file(journal.path + ".damaged") == journal.bytes);
  CHECK_THAT(ran.out, Catch::StartsWith("damaged   byte 57: no record begins here"));
  CHECK_THAT(ran.out, Catch::Contains("dropped   103 bytes from byte 57 on, with 1 commands and 2 "
                                      "answers that can still be read\n"));
  CHECK_THAT(ran.out, Catch::Contains("original  " + journal.path + ".damaged\n"));
  CHECK(run({.file = journal.path}).code == 0);
  CHECK_THAT(run(command).out, Catch::StartsWith("whole"));

  // Another damage: the first original is not lost.
  std::ofstream(journal.path, std::ios::binary | std::ios::app) << "torn";
  const Ran again = run(command);
  CHECK(again.code == 1);
  CHECK_THAT(again.errors, Catch::Contains(".damaged is there already"));
  std::filesystem::remove(journal.path + ".damaged");
  CHECK_THAT(run(command).out, Catch::StartsWith("torn      at byte 57\ndropped   4 bytes"));
  CHECK(journal.now() == whole.substr(0, journal.offsets[3]));
}

TEST_CASE("journal repair that is interrupted anywhere can be done again") {
  for (std::size_t n = 1;; ++n) {
    CAPTURE(n);
    Journal journal;
    journal.bytes += "torn";
    journal.save();
    FaultyFiles files;
    files.fail({.nth = n, .error = EIO, .lasting = true, .short_bytes = 3});
    const JournalCommand command{.action = Action::repair, .file = journal.path};
    const Ran ran = run(command, files);
    const std::string good = journal.bytes.substr(0, journal.bytes.size() - 4);
    const std::string now = journal.now();
    CHECK((now == journal.bytes || now == good));
    if (now == good) CHECK(read_file(journal.path + ".damaged") == journal.bytes);
    const bool over = files.count() < n;
    CHECK(ran.code == (over ? 0 : 1));
    files.heal();
    REQUIRE(run(command, files).code == 0);
    CHECK(journal.now() == good);
    CHECK(read_file(journal.path + ".damaged") == journal.bytes);
    if (over) break;
  }
}

TEST_CASE("journal commands refuse what they cannot do with the reason") {
  const Journal journal;
  const auto error = [](Action action, const std::string& file, bool skip = false) {
    const Ran ran = run({.action = action, .file = file, .skip_damaged = skip});
    CHECK(ran.code == 1);
    return ran.errors;
  };
  CHECK_THAT(error(Action::repair, journal.path, true), Catch::Contains("behind a hole"));
  const std::string other = journal.folder.path / "other";
  for (const Action action : {Action::dump, Action::verify, Action::repair}) {
    CHECK_THAT(error(action, other), Catch::Contains("cannot open " + other));
    std::ofstream(other) << "attuned checkpoint 1";
    CHECK_THAT(error(action, other), Catch::Contains(other + " is no journal of attuned"));
    std::ofstream(other, std::ios::trunc).close();
    CHECK_THAT(error(action, other), Catch::Contains(other + " is empty"));
    std::filesystem::remove(other);
    CHECK_THAT(error(action, journal.folder.path), Catch::Contains("irectory"));
    std::filesystem::create_symlink(journal.path, other);
    CHECK_THAT(error(action, other), Catch::Contains("symbolic link"));
    std::filesystem::remove(other);
  }
  const UniqueFd daemon = open_locked(real_files(), journal.path, false).value();
  CHECK_THAT(error(Action::repair, journal.path), Catch::Contains("is in use by another"));
  CHECK(run({.action = Action::verify, .file = journal.path}).code == 0);
  CHECK(journal.now() == journal.bytes);
}

TEST_CASE("journal commands are read from the command line") {
  const auto read = [](std::vector<const char*> arguments, Options& options) {
    arguments.insert(arguments.begin(), {"attuned", "journal"});
    return read_options(static_cast<int>(arguments.size()), arguments.data(), {}, 1, options);
  };
  Options options;
  REQUIRE(read({"dump", "--full", "--json", "J"}, options));
  CHECK(options.run == Options::Run::journal);
  CHECK(options.journal.action == Action::dump);
  CHECK(options.journal.file == "J");
  CHECK(options.journal.full);
  CHECK(options.journal.as_json);
  Options repair;
  REQUIRE(read({"repair", "J", "--skip-damaged"}, repair));
  CHECK(repair.journal.action == Action::repair);
  CHECK(repair.journal.skip_damaged);
  for (const std::vector<const char*>& wrong :
       {std::vector<const char*>{}, {"dump"}, {"verify", "--full", "J"}, {"mend", "J"}}) {
    Options none;
    const auto usage = read(wrong, none);
    REQUIRE_FALSE(usage);
    CHECK(usage.error().exit_code == 2);
  }
}

}  // namespace attune::journal_command_test

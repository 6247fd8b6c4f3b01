// Old files are migrated, foreign, newer and damaged ones are refused with a cure.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <vector>

#include "manager/store/schema.h"
#include "tests/manager/store/stored_experiment.h"
#include "tests/support/temporary_folder.h"

namespace attune::schema_test {

namespace fs = std::filesystem;

constexpr double kBusy = 1;

bool says(const Error& error, const std::string& text) {
  INFO(error.message);
  return error.message.find(text) != std::string::npos;
}

TEST_CASE("schema: an old file is brought up to date, with what it holds") {
  const TemporaryFolder folder;
  const std::vector<std::string_view> old = {"CREATE TABLE pets (name TEXT) STRICT;"};
  {
    Database database = open_for_writing(folder.path, old, kBusy).value();
    REQUIRE(database.execute("INSERT INTO pets VALUES ('Rex')").has_value());
  }
  std::vector<std::string_view> present = old;
  present.emplace_back("ALTER TABLE pets ADD COLUMN legs INTEGER;");
  present.emplace_back("UPDATE pets SET legs = 4;");
  CHECK(says(open_for_reading(folder.path, present).error(), "older attune"));
  {
    Database database = open_for_writing(folder.path, present, kBusy).value();
    CHECK(database.integer("PRAGMA user_version").value() == 3);
    CHECK(database.integer("SELECT legs FROM pets WHERE name = 'Rex'").value() == 4);
  }
  CHECK(open_for_reading(folder.path, present).has_value());

  // And the program from before the migration refuses it.
  CHECK(says(open_for_writing(folder.path, old, kBusy).error(), "newer attune"));
  CHECK(says(open_for_reading(folder.path, old).error(), "newer attune"));
}

TEST_CASE("schema: how long an experiment of version 3 has run is known to version 4") {
  const TemporaryFolder folder;
  {
    Database database = open_for_writing(folder.path, schema_steps().first(3), kBusy).value();
    REQUIRE(database
                .execute("INSERT INTO experiments (id, name, directory, status, objective, "
                         "maximize, seed, file, manager_pid, manager_started_at, started_at, "
                         "seconds, seen_at) VALUES ('a', '', '/a', 'running', 'x', 0, 1, '{}', 1, "
                         "1000, 900, 50, 1030), ('b', '', '/b', 'running', 'x', 0, 1, '{}', 1, "
                         "1000, 900, 50, NULL)")
                .has_value());
  }
  Database database = open_for_writing(folder.path, schema_steps(), kBusy).value();
  CHECK(database.integer("SELECT seconds + ran FROM experiments WHERE id = 'a'").value() == 80);
  CHECK(database.integer("SELECT seconds + ran FROM experiments WHERE id = 'b'").value() == 50);
}

TEST_CASE("schema: which reports of version 4 counted is known to version 5") {
  const TemporaryFolder folder;
  {
    Database database = open_for_writing(folder.path, schema_steps().first(4), kBusy).value();
    const auto add = [&](int report, const std::string& ignored) {
      return fmt::format(
          "INSERT INTO reports VALUES (1, 0, {}, 0, 'periodical', 0, 1, 1, 0, '{}', 1, '', 1); ",
          report, ignored);
    };
    REQUIRE(database
                .execute("PRAGMA foreign_keys = OFF; " + add(0, "") +
                         add(1, "it has no finite \"default\"") + add(2, "after the decision"))
                .has_value());
  }
  Database database = open_for_writing(folder.path, schema_steps(), kBusy).value();
  CHECK(database.integer("SELECT sum(counts * (1 + report)) FROM reports").value() == 3);
}

TEST_CASE("schema: what version 5 says in words has columns in version 6") {
  const TemporaryFolder folder;
  const std::string rows = R"sql(
INSERT INTO experiments (experiment, id, name, directory, status, objective, maximize, seed, file,
  manager_pid, manager_started_at, started_at)
  VALUES (1, 'a', '', '/a', 'running', 'x', 0, 1, '{}', 1, 1000, 900);
INSERT INTO trials VALUES
  (1, 0, 't0000', 'algorithm', 'WAITING', '', 2, 0, 0, NULL, NULL, NULL, '', 900, 950, NULL),
  (1, 1, 't0001', 'algorithm', 'FAILED', '', 2, 0, 0, NULL, NULL, NULL, '', 900, 950, 960);
INSERT INTO attempts (experiment, trial, attempt, from_checkpoint, started_at, detail) VALUES
  (1, 0, 0, '', 950, 'exit code 1'), (1, 0, 1, '', 955, 'it could not be started: no memory'),
  (1, 1, 1, '', 955, 'it could not be started: no memory');
INSERT INTO decisions (experiment, trial, time, action, decided_by, reason) VALUES
  (1, 0, 1, 'stop', 'user', 'attune kill'), (1, 0, 2, 'stop', 'limit', 'maxTrialDuration is over'),
  (1, 0, 3, 'stop', 'runner', 'its own criterion'), (1, 0, 4, 'stop', 'runner', 'no "loss"'),
  (1, 0, 5, 'stop', 'runner', 'the experiment ended'), (1, 0, 6, 'pause', 'decider', 'its rung'),
  (1, 0, 7, 'retry', 'user', 'its own criterion');
INSERT INTO events (experiment, time, kind, text) VALUES
  (1, 1, 'warning', 'trial t0001: it is odd'), (1, 2, 'warning', 'trial and error: no trial'),
  (1, 3, 'warning', 'the disk is full');
)sql";
  {
    Database database = open_for_writing(folder.path, schema_steps().first(5), kBusy).value();
    REQUIRE(database.execute(rows).has_value());
  }
  Database database = open_for_writing(folder.path, schema_steps(), kBusy).value();
  const auto texts = [&](const std::string& query) {
    std::string joined;
    REQUIRE(database.prepare(query).value().query({}, [&](const SqlRow& row) {
      joined += row.text(0) + " ";
      return true;
    }));
    return joined;
  };
  CHECK(texts("SELECT ends FROM decisions ORDER BY time") ==
        "by_user early_stop complete fail interrupt pause  ");
  CHECK(texts("SELECT coalesce(trial, 'none') FROM events ORDER BY time") == "1 none none ");
  CHECK(texts("SELECT attempts FROM trials ORDER BY trial") == "1 2 ");
}

TEST_CASE("schema: a migration that fails changes nothing") {
  const TemporaryFolder folder;
  const std::vector<std::string_view> broken = {"CREATE TABLE pets (name TEXT) STRICT;",
                                                "CREATE TABLE a (x INT) STRICT; NONSENSE;"};
  CHECK_FALSE(open_for_writing(folder.path, broken, kBusy).has_value());
  Database database = open_for_writing(folder.path, std::span(broken).first(1), kBusy).value();
  CHECK(database.integer("PRAGMA user_version").value() == 1);
  CHECK(database.integer("SELECT count(*) FROM sqlite_schema WHERE name = 'a'").value() == 0);
}

TEST_CASE("schema: a file of another program is left alone") {
  const TemporaryFolder folder;
  {
    Database other = Database::open(folder.path / kStoreFile, Database::Mode::create).value();
    REQUIRE(other.execute("CREATE TABLE t (x)").has_value());
  }
  CHECK(says(open_for_writing(folder.path, schema_steps(), kBusy).error(), "another program"));
}

TEST_CASE("schema: a file that is no database, and a damaged one") {
  const TemporaryFolder folder;
  std::ofstream(folder.path / kStoreFile) << std::string(8192, 'x');
  CHECK(says(Store::open(folder.path).error(), "is no SQLite database; move it away"));
  fs::remove(folder.path / kStoreFile);
  {
    const Store store = begin_experiment(folder.path, "abcd2345");
  }
  {
    std::fstream file(folder.path / kStoreFile, std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(100);  // past the header: the root page of the schema
    file << std::string(3000, '\xee');
  }
  CHECK(says(Store::open(folder.path).error(), "damaged"));
}

TEST_CASE("schema: what others may write is not opened") {
  const TemporaryFolder folder;
  REQUIRE(open_for_writing(folder.path, schema_steps(), kBusy).has_value());
  const fs::path file = folder.path / kStoreFile;
  REQUIRE(::chmod(file.c_str(), 0666) == 0);
  CHECK(says(open_for_writing(folder.path, schema_steps(), kBusy).error(),
             file.string() + " can be written by other users (mode 0666)"));
  REQUIRE(::chmod(file.c_str(), 0644) == 0);
  REQUIRE(::chmod(folder.path.c_str(), 0775) == 0);  // as umask 002 makes it
  CHECK(open_for_writing(folder.path, schema_steps(), kBusy).has_value());
  REQUIRE(::chmod(folder.path.c_str(), 0777) == 0);
  CHECK(says(open_for_writing(folder.path, schema_steps(), kBusy).error(),
             folder.path.string() + " can be written by other users (mode 0777)"));
  CHECK(says(bring_up_to_date(folder.path, kBusy).error(), "chmod go-w"));
}

TEST_CASE("schema: a working directory that cannot be made") {
  const TemporaryFolder folder;
  std::ofstream(folder.path / "file") << "x";
  CHECK(says(Store::open(folder.path / "file" / "below").error(), "cannot make"));
}

TEST_CASE("schema: another writer that never ends") {
  const TemporaryFolder folder;
  Store store = begin_experiment(folder.path, "abcd2345");
  REQUIRE(store.add_event({EventKind::warning, "x"}, 1)
              .has_value());  // holds the lock until it commits
  Store other = Store::open(folder.path, 0.05).value();
  NewExperiment experiment;
  experiment.id = "other";
  const auto begun = other.begin(experiment, 1);
  CHECK(says(begun.error(), "another process holds it"));
  // What failed once is not half done by the next call.
  REQUIRE(store.commit().has_value());
  CHECK_FALSE(other.commit().has_value());
}

TEST_CASE("schema: a full disk is an error that names the cure, and writes no half") {
  const TemporaryFolder folder;
  Database database = open_for_writing(folder.path, schema_steps(), kBusy).value();
  // SQLite says the same of a file that may not grow as of a disk that is full.
  REQUIRE(database.execute("PRAGMA max_page_count = 1").has_value());
  const auto result = database.execute(
      "INSERT INTO experiments SELECT NULL, 'a', hex(zeroblob(100000)), '', 'running', '', '', 0, "
      "0, "
      "'', 1, 1, 1, 1, NULL, 0, NULL, 0");
  CHECK(says(result.error(), "disk is full: make room"));
}

TEST_CASE("schema: a reader needs no right to write") {
  if (::geteuid() == 0) return;  // root may write everywhere
  const TemporaryFolder folder;
  {
    const Store store = begin_experiment(folder.path, "abcd2345");
  }
  fs::permissions(folder.path, fs::perms::owner_read | fs::perms::owner_exec);
  const auto reader = open_for_reading(folder.path, schema_steps());
  fs::permissions(folder.path, fs::perms::owner_all);
  CHECK(reader.has_value());
}

}  // namespace attune::schema_test

#include "study/study_file.h"

#include "tests/study/study_fixture.h"
#include "tests/support/faulty_files.h"

namespace attune::study_file_test {

using namespace attune::test;

TEST_CASE("study file: a line that the disk takes in part only is taken back") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  FaultyFiles files;
  auto file = must(StudyFile::create(path, Durability::never, files));
  must(file->append("first\n"));
  files.fail(
      {.call = FileCall::write, .nth = 2, .error = ENOSPC, .lasting = true, .short_bytes = 3});
  CHECK_THAT(error_of(file->append("second\n")), Catch::EndsWith("No space left on device"));
  CHECK(read(path) == "first\n");
  files.heal();
  must(file->append("third\n"));
  CHECK(read(path) == "first\nthird\n");
}

TEST_CASE("study file: what cannot even be taken back is dropped as torn by who opens it") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  std::string before;
  {
    Study study = must(Study::create(small_space(), {.file = path}));
    must(study.ask(2));
    before = summary(study);
  }
  const std::string whole = read(path);
  {
    FaultyFiles files;
    auto file = must(StudyFile::open(path, Durability::never, files));
    files.fail({.nth = files.count() + 1, .error = EIO, .lasting = true, .short_bytes = 9});
    CHECK_THAT(error_of(file->append("{\"tell\":0,\"value\":1}\n")), Catch::Contains(path));
  }
  CHECK(read(path) == whole + "{\"tell\":0");
  Study study = must(Study::open(path));
  REQUIRE(study.warnings().size() == 1);
  CHECK_THAT(study.warnings()[0], Catch::Contains("torn"));
  CHECK(summary(study) == before);
  CHECK(read(path) == whole);
}

TEST_CASE("study file: a flush that fails is said to whoever appends") {
  const Folder folder;
  const std::string path = folder.file("study.jsonl");
  FaultyFiles files;
  auto file = must(StudyFile::create(path, Durability::always, files));
  must(file->append("first\n"));
  files.fail_next(FileCall::flush, EIO);
  CHECK(error_of(file->append("second\n")) == "cannot flush " + path + ": Input/output error");
  for (const auto& bytes : files.after_power_loss(path)) CHECK(bytes == "first\n");

  files.fail_next(FileCall::flush_directory, EIO);
  CHECK_THAT(error_of(StudyFile::create(folder.file("other"), Durability::always, files)),
             Catch::StartsWith("cannot flush " + folder.path.string()));
}

TEST_CASE("study file: any call that fails leaves lines that are whole") {
  const Folder folder;
  for (std::size_t n = 1;; ++n) {
    CAPTURE(n);
    FaultyFiles files;
    files.limit_writes(4);
    files.fail({.nth = n, .error = EIO, .short_bytes = n % 3});
    const std::string path = folder.file(std::to_string(n));
    std::string expected;
    if (auto file = StudyFile::create(path, Durability::always, files)) {
      for (const std::string line : {"the first\n", "the second\n", "the third\n"}) {
        const std::size_t flushes = files.count(FileCall::flush);
        // Only the flush comes behind the line itself.
        if ((*file)->append(line) || files.count(FileCall::flush) > flushes) expected += line;
      }
      CHECK(read(path) == expected);
    }
    if (files.count() < n) break;
  }
}

}  // namespace attune::study_file_test

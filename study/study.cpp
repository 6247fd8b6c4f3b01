#include "study/study.h"

#include <filesystem>
#include <set>
#include <system_error>

#include "analysis/fanova.h"
#include "os/atomic_file.h"
#include "study/header.h"
#include "study/replay.h"
#include "study/study_impl.h"

namespace attune {
namespace {

std::string line_of(const json& value) { return dump_json(value) + "\n"; }

std::unexpected<Error> in_file(const std::string& path, const Error& error) {
  return fail(path + ": " + error.message);
}

// The names of the members that differ, as a text. `concurrency` may differ, because it is only a
// hint for the tuner: the study continues with the hint that it was made with.
std::string difference(const json& read, const json& made) {
  // Compares with what a file would have: some values change when they are written and read.
  const auto again = parse_json(dump_json(made));
  if (!again) return again.error().message;
  std::string names;
  for (const auto& [name, value] : again->items()) {
    if (name == "concurrency") continue;
    const auto found = read.find(name);
    if (found != read.end() && dump_json(*found) == dump_json(value)) continue;
    names += (names.empty() ? "" : ", ") + name;
  }
  return names;
}

// Whether the file has only a part of the first line: the program that wrote it ended before the
// study began.
bool is_torn_header(std::string_view bytes) {
  constexpr std::string_view kBegin = R"({"attune_study":)";
  return !bytes.empty() && bytes.find('\n') == std::string_view::npos &&
         bytes.substr(0, kBegin.size()) == kBegin.substr(0, bytes.size());
}

}  // namespace

std::string_view name_of(TrialState state) {
  switch (state) {
    case TrialState::running:
      return "running";
    case TrialState::paused:
      return "paused";
    case TrialState::completed:
      return "completed";
    case TrialState::diverged:
      return "diverged";
    case TrialState::failed:
      return "failed";
    case TrialState::stopped:
      return "stopped";
  }
  return "";
}

Result<void> Study::Impl::store() {
  if (!file) return {};
  const std::vector<Event>& events = core->events();
  if (written == events.size()) return {};
  std::string lines;
  for (std::size_t i = written; i < events.size(); ++i) lines += line_of(to_json(events[i]));
  // The core knows events that the file lacks. What is written behind them would not follow from
  // the file, so the study refuses everything from now on.
  if (auto appended = file->append(lines); !appended) {
    broken = Error{appended.error().message + "; the study is closed"};
    return std::unexpected(*broken);
  }
  written = events.size();
  return {};
}

Study::Study(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Study::Study(Study&&) noexcept = default;
Study& Study::operator=(Study&&) noexcept = default;
Study::~Study() = default;

Result<Study> Study::create(const json& space, const StudyOptions& options) {
  auto impl = std::make_unique<Impl>();
  impl->core = TRY(StudyCore::make(space, options, builtin_tuners(), builtin_assessors()));
  impl->header = make_header(space, options);
  if (options.file.empty()) return Study(std::move(impl));
  std::error_code ignored;
  const bool continues = options.if_exists == IfExists::continue_ &&
                         std::filesystem::file_size(options.file, ignored) > 0 && !ignored;
  if (continues) {
    auto file = TRY(StudyFile::open(options.file, options.durability));
    const std::string bytes = TRY(file->read());
    if (!is_torn_header(bytes)) {
      Study study = TRY(go_on(options.file, std::move(file), bytes));
      const std::string others = difference(study.impl_->header, impl->header);
      if (others.empty()) return study;
      return attune::fail(options.file + ": was made with another search space or other options (" +
                          others + "); the same ones continue it, or another file");
    }
    TRY(file->truncate(0));
    impl->file = std::move(file);
    impl->warnings.emplace_back("line 1: torn, the study had not begun; it begins now");
  } else {
    impl->file = TRY(StudyFile::create(options.file, options.durability));
  }
  TRY(impl->file->append(line_of(impl->header)));
  return Study(std::move(impl));
}

Result<Study> Study::open(const std::string& path, Durability durability) {
  auto file = TRY(StudyFile::open(path, durability));
  const std::string bytes = TRY(file->read());
  return go_on(path, std::move(file), bytes);
}

Result<Study> Study::go_on(const std::string& path, std::unique_ptr<StudyFile> file,
                           const std::string& bytes) {
  auto replayed = replay(bytes, builtin_tuners(), builtin_assessors());
  if (!replayed) return in_file(path, replayed.error());
  if (replayed->length < bytes.size()) TRY(file->truncate(replayed->length));
  auto impl = std::make_unique<Impl>();
  impl->core = std::move(replayed->core);
  impl->header = std::move(replayed->header);
  impl->file = std::move(file);
  impl->written = impl->core->events().size();
  impl->warnings = std::move(replayed->warnings);
  impl->left_over = impl->core->running();
  return Study(std::move(impl));
}

Result<Study> Study::load(const std::string& path) {
  auto replayed = replay(TRY(read_file(path)), builtin_tuners(), builtin_assessors());
  if (!replayed) return in_file(path, replayed.error());
  auto impl = std::make_unique<Impl>();
  impl->core = std::move(replayed->core);
  impl->header = std::move(replayed->header);
  impl->warnings = std::move(replayed->warnings);
  impl->left_over = impl->core->running();
  return Study(std::move(impl));
}

Result<void> Study::save(const std::string& path) const {
  // Saving renames a file to `path`, so a study that writes there would lose its file.
  const UniqueFd kept_out = TRY(StudyFile::keep_out(path));
  std::string bytes = line_of(impl_->header);
  impl_->look([&](const StudyCore& core) {
    for (const Event& event : core.events()) bytes += line_of(to_json(event));
  });
  return write_file_atomically(path, bytes);
}

Result<Asked> Study::ask(int count) {
  return impl_->change([&](StudyCore& core) { return core.ask(count, -1); });
}

Result<void> Study::tell(TrialId id, const json& value) {
  return impl_->change([&](StudyCore& core) { return core.tell(id, value, -1); });
}

Result<void> Study::tell(const std::vector<std::pair<TrialId, json>>& results) {
  return impl_->change([&](StudyCore& core) -> Result<void> {
    std::set<TrialId> ids;
    for (const auto& [id, value] : results) {
      TRY(core.check_tell(id, value));
      if (!ids.insert(id).second) {
        return attune::fail("trial " + std::to_string(id) + " is in the batch twice");
      }
    }
    for (const auto& [id, value] : results) TRY(core.tell(id, value, -1));
    return {};
  });
}

Result<void> Study::fail(TrialId id, const std::string& reason) {
  return impl_->change([&](StudyCore& core) { return core.fail_trial(id, reason, -1); });
}

Result<void> Study::stop(TrialId id) {
  return impl_->change([&](StudyCore& core) { return core.stop(id, -1); });
}

Result<Verdict> Study::report(TrialId id, const json& value, std::optional<std::int64_t> step) {
  return impl_->change([&](StudyCore& core) { return core.report(id, value, step, -1); });
}

Result<void> Study::enqueue(const json& parameters) {
  return impl_->change([&](StudyCore& core) { return core.enqueue(parameters); });
}

Result<void> Study::import_results(const std::vector<std::pair<json, json>>& results) {
  return impl_->change([&](StudyCore& core) { return core.import(results); });
}

Result<json> Study::suggest(TrialId id, const std::string& name, const json& declared) {
  return impl_->change([&](StudyCore& core) { return core.suggest(id, name, declared); });
}

Result<void> Study::give(TrialId id, const std::string& name, const json& declared,
                         const json& value) {
  return impl_->change([&](StudyCore& core) { return core.give(id, name, declared, value); });
}

Result<void> Study::declare(const json& space) {
  return impl_->change([&](StudyCore& core) { return core.declare(space); });
}

std::optional<StudyTrial> Study::best() const {
  return impl_->look([](const StudyCore& core) -> std::optional<StudyTrial> {
    if (core.leaders().empty()) return std::nullopt;
    return *core.record(core.leaders().best_id());
  });
}

std::vector<StudyTrial> Study::trade_offs() const {
  return impl_->look([](const StudyCore& core) {
    std::vector<StudyTrial> found;
    if (!core.leaders().keep_limits()) return found;
    for (const TrialId id : core.leaders().ids()) found.push_back(*core.record(id));
    return found;
  });
}

bool Study::keeps_limits() const {
  return impl_->look([](const StudyCore& core) { return core.leaders().keep_limits(); });
}

std::optional<StudyTrial> Study::trial(TrialId id) const {
  return impl_->look([id](const StudyCore& core) -> std::optional<StudyTrial> {
    const StudyTrial* record = core.record(id);
    return record ? std::optional(*record) : std::nullopt;
  });
}

std::vector<StudyTrial> Study::trials() const {
  return impl_->look([](const StudyCore& core) { return core.records(); });
}

std::vector<Suggestion> Study::running() const {
  return impl_->look([](const StudyCore& core) {
    std::vector<Suggestion> all;
    for (auto& [trial, slot] : core.running()) all.push_back(std::move(trial));
    return all;
  });
}

Result<std::vector<std::pair<std::string, double>>> Study::importance(
    const std::string& metric) const {
  // Other threads need not wait for the forests.
  return fanova(TRY(impl_->look([&](const StudyCore& core) { return core.evidence(metric); })));
}

std::int64_t Study::trial_count() const {
  return impl_->look([](const StudyCore& core) { return core.trial_count(); });
}

std::int64_t Study::count(TrialState state) const {
  return impl_->look([state](const StudyCore& core) { return core.count(state); });
}

std::vector<std::string> Study::warnings() const { return impl_->warnings; }

}  // namespace attune
